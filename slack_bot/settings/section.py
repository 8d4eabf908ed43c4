"""What all groups of settings are made of: the frozen model, and the kinds of values."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr


def _http_url(value: str) -> str:
    if not re.match(r"https?://[^/\s]+", value):
        raise ValueError("should be an address that begins with http:// or https://")
    return value


def _items(value: object) -> object:
    """Read a list from a variable: as JSON, or with commas."""
    if not isinstance(value, str):
        return value
    if not value.startswith("["):
        return [item.strip() for item in value.split(",") if item.strip()]
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError('is not a list: write a,b or ["a","b"]') from None


def ids_of(letters: str, expected: str) -> AfterValidator:
    """A validator for Slack ids that begin with one of `letters`. `expected`: what the error says they should
    be.
    """

    def check(ids: tuple[str, ...]) -> tuple[str, ...]:
        if not all(re.fullmatch(f"[{letters}][A-Z0-9]+", each) for each in ids):
            raise ValueError(f"should be {expected}")
        return ids

    return AfterValidator(check)


def _secure_url(value: str) -> str:
    """Check an address to which secrets are sent. For this machine it may be http, as a local proxy adds the
    TLS.
    """
    if not re.match(r"https://[^/\s]+|http://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/|\Z)", value):
        raise ValueError("should be an address that begins with https:// (http:// only to this machine)")
    return value


Seconds = Annotated[float, Field(gt=0)]


HttpUrl = Annotated[str, AfterValidator(_http_url)]
SecureUrl = Annotated[str, AfterValidator(_secure_url)]
Items = BeforeValidator(_items)
Texts = Annotated[tuple[str, ...], Items]


class SettingsSection(BaseModel):
    """A frozen group of settings that knows no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True, allow_inf_nan=False)

    @classmethod
    def contradictions(cls, values: Mapping[str, Any]) -> Iterator[str]:
        """A sentence for each rule between settings that `values` break, which may be of any kind."""
        yield from ()


def is_secret(annotation: Any) -> bool:
    """Whether values of this type are secrets, or may be."""
    return annotation is SecretStr or any(is_secret(part) for part in get_args(annotation))
