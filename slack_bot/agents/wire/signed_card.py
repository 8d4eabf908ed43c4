"""PURE. The bytes that an agent card's signature covers, and the part of the card that they contain.

The bytes are JSON as RFC 8785 (JCS) writes it, without `signatures`. What else is left out differs between
signers (facts: A2A 15), so several forms are tried. The bot uses only the part of the card that the signed
bytes contain: the rest may have been added after the signing.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from ...turn.json_values import Object, object_of, objects_of

_MOST_DEPTH = 100
_LARGEST = 2**53 - 1  # of the whole numbers that every reader of JSON has exactly
_ESCAPED = re.compile(r'[\x00-\x1f\\"]')
_FLAG = "flag"  # a field of 1.0 that is left out where it is false: it has no third value
_Fields: TypeAlias = Mapping[str, Any]


def _fields(words: str, **nested: Any) -> _Fields:
    return {**dict.fromkeys(words.split()), **nested}


_FLOW = _fields("authorizationUrl tokenUrl refreshUrl deviceAuthorizationUrl scopes", pkceRequired=_FLAG)
_FLOW_NAMES = ("authorizationCode", "clientCredentials", "implicit", "password", "deviceCode")
_SCHEME = {
    "apiKeySecurityScheme": _fields("description location name"),
    "httpAuthSecurityScheme": _fields("description scheme bearerFormat"),
    "oauth2SecurityScheme": _fields("description oauth2MetadataUrl", flows=dict.fromkeys(_FLOW_NAMES, _FLOW)),
    "openIdConnectSecurityScheme": _fields("description openIdConnectUrl"),
    "mtlsSecurityScheme": _fields("description"),
}
_NEEDS = {"schemes": {"*": _fields("list")}}
_CARD = _fields(
    "name description version documentationUrl defaultInputModes defaultOutputModes iconUrl",
    supportedInterfaces=_fields("url protocolBinding tenant protocolVersion"),
    provider=_fields("url organization"),
    capabilities=_fields(
        "streaming pushNotifications extendedAgentCard",
        extensions=_fields("uri description params", required=_FLAG),
    ),
    securitySchemes={"*": _SCHEME},
    securityRequirements=_NEEDS,
    skills=_fields("id name description tags examples inputModes outputModes", securityRequirements=_NEEDS),
)
"""The fields of A2A 1.0. a2a-sdk signs only these, and publishes those of 0.3 beside them."""
_DEFAULTS_03 = {"protocolVersion": "0.3.0", "preferredTransport": "JSONRPC"}


@dataclass(frozen=True, slots=True)
class SignedForm:
    """`payload`: the bytes that may have been signed. `card`: the part of the card that they contain."""

    payload: bytes
    card: Object


def signed_forms(card: Object) -> Iterator[SignedForm]:
    """The forms of `card` that may have been signed. Raises ValueError if it has no canonical form."""
    unsigned = {name: value for name, value in card.items() if name != "signatures"}
    yield SignedForm(canonical(unsigned), unsigned)
    compact = object_of(_cleaned(unsigned))
    for form in (_cleaned(_part(unsigned, _CARD)), compact, _cleaned(unsigned, drops_false=True)):
        signed = object_of(form)
        yield SignedForm(canonical(signed), _with_needs(signed, unsigned))
    yield from _forms_03(compact, unsigned)


def _forms_03(compact: Object, unsigned: Object) -> Iterator[SignedForm]:
    """The form that a2a-sdk 0.3 signs: without defaults, and with escapes for non-ASCII characters."""
    without_defaults = {name: value for name, value in compact.items() if value != _DEFAULTS_03.get(name)}
    signed = dict(without_defaults)
    if schemes := object_of(without_defaults.get("securitySchemes")):
        signed["securitySchemes"] = {name: _without_type(object_of(each)) for name, each in schemes.items()}
    canonical(signed)  # has a form
    escaped = json.dumps(signed, separators=(",", ":"), sort_keys=True)
    yield SignedForm(escaped.encode(), _with_needs(without_defaults, unsigned))


def _without_type(scheme: Object) -> Object:
    """The scheme without `type`, if its other fields show the type."""
    kinds = {"in": "apiKey", "flows": "oauth2", "openIdConnectUrl": "openIdConnect", "scheme": "http"}
    kind = next((kinds[name] for name in kinds if name in scheme), "mutualTLS")
    return {name: value for name, value in scheme.items() if (name, value) != ("type", kind)}


def _part(value: Any, fields: Any) -> Any:
    if isinstance(value, list):
        return [_part(each, fields) for each in value]
    if not isinstance(value, dict) or not isinstance(fields, Mapping):
        return value
    if "*" in fields:
        return {name: _part(each, fields["*"]) for name, each in value.items()}
    return {
        name: _part(each, fields[name])
        for name, each in value.items()
        if name in fields and not (fields[name] is _FLAG and each is False)
    }


def _cleaned(value: Any, *, drops_false: bool = False, depth: int = 1) -> Any:
    """The value without empty parts; None if no part is left."""
    _check(depth)
    if isinstance(value, dict):
        fields = {
            name: cleaned
            for name, each in value.items()
            if (cleaned := _cleaned(each, drops_false=drops_false, depth=depth + 1)) is not None
        }
        return fields or None
    if isinstance(value, list):
        items = (_cleaned(each, drops_false=drops_false, depth=depth + 1) for each in value)
        return [each for each in items if each is not None] or None
    return None if value == "" or (drops_false and value is False) else value


def _with_needs(signed: Object, unsigned: Object) -> Object:
    """The card together with the names of the schemes that a call needs. Their values are empty lists, so
    signers who leave out empty values do not sign them. The schemes themselves are signed.
    """
    schemes = object_of(signed.get("securitySchemes"))
    restored: dict[str, Any] = {}
    for key in ("securityRequirements", "security"):
        needs = [each for each in objects_of(unsigned.get(key)) if _names(each) <= schemes.keys()]
        if needs:
            restored[key] = needs
    return {**signed, **restored}


def _names(need: Object) -> set[str]:
    return set(object_of(need.get("schemes", need)))


def canonical(value: Any) -> bytes:
    """Write `value` as RFC 8785 does.

    Raises ValueError if it is nested too deep, or has a number that not every reader can represent, or half
    of a surrogate pair.
    """
    return "".join(_written(value, 1)).encode("utf-8")


def _written(value: Any, depth: int) -> Iterator[str]:
    match value:
        case dict():
            _check(depth)
            names = sorted(value, key=lambda name: name.encode("utf-16-be"))
            for n, name in enumerate(names):
                yield f"{',' if n else '{'}{_quoted(name)}:"
                yield from _written(value[name], depth + 1)
            yield "}" if names else "{}"
        case list():
            _check(depth)
            for n, each in enumerate(value):
                yield "," if n else "["
                yield from _written(each, depth + 1)
            yield "]" if value else "[]"
        case str():
            yield _quoted(value)
        case bool() | None:
            yield json.dumps(value)
        case int() if abs(value) > _LARGEST:
            raise ValueError("a number is larger than JSON can say exactly")
        case int() | float():
            yield _number(float(value))
        case _:
            raise ValueError(f"{type(value).__name__} is not JSON")


def _check(depth: int) -> None:
    if depth > _MOST_DEPTH:
        raise ValueError("it is nested too deep")


def _quoted(text: str) -> str:
    return f'"{_ESCAPED.sub(lambda match: json.dumps(match.group())[1:-1], text)}"'


def _number(value: float) -> str:
    """A number as JavaScript writes it (ECMA-262, Number::toString)."""
    if not math.isfinite(value):
        raise ValueError("it is no number of JSON")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    parts = Decimal(repr(abs(value))).as_tuple()
    assert isinstance(parts.exponent, int), "it is finite"
    point = len(parts.digits) + parts.exponent
    digits = "".join(map(str, parts.digits)).rstrip("0")
    if len(digits) <= point <= 21:
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    rest = f".{digits[1:]}" if digits[1:] else ""
    return f"{sign}{digits[0]}{rest}e{'+' if power > 0 else '-'}{abs(power)}"
