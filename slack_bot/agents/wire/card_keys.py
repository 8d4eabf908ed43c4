"""Checks the signatures of agent cards with the keys that the operator configured (extra `oauth`: joserfc).

A card may not choose its key (`jku`, `x5u`, `jwk`) or its algorithm: whoever could choose them could sign in
any name (RFC 8725, 3.1 and 3.10).
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from ...errors import CardUntrusted, SettingsError
from ...turn.json_values import Object, list_of, object_of, objects_of, read_json, text_of
from .frames import quote
from .signed_card import SignedForm, signed_forms

_Key: TypeAlias = RSAKey | ECKey | OKPKey

CARD_KEYS = "SLACK_BOT_AGENT__CARD_KEYS"
_RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
_CURVES: Mapping[str, tuple[str, ...]] = {
    "P-256": ("ES256",),
    "P-384": ("ES384",),
    "P-521": ("ES512",),
    "Ed25519": ("EdDSA", "Ed25519"),
}
_KINDS: Mapping[str, type[_Key]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
_LEAST_RSA = 2048  # bits (RFC 7518, 3.3)
_PEM = re.compile(r"-----BEGIN ([A-Z ]+)-----.+?-----END \1-----", re.DOTALL)
_MOST_BYTES = 1024 * 1024
_MOST_KEYS = 100
_MOST_SIGNATURES = 20
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class CardKey:
    """A public key for cards.

    `algorithms`: those with which it may verify. `kid` is None for a key without a name.
    """

    name: str
    kid: str | None
    algorithms: tuple[str, ...]
    key: _Key


def read_card_keys(path: str) -> tuple[CardKey, ...]:
    """Read the public keys in a file: a JWK, a set of them, or PEM.

    Raises SettingsError if the file has no public key, or also something else.
    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read ({error.strerror}); correct {CARD_KEYS}, or the owner and mode of that"
            " file"
        ) from error
    keys = tuple(_keys_in(text, path))
    if not 0 < len(keys) <= _MOST_KEYS:
        what = "no public key as PEM or JWKS" if not keys else f"more than {_MOST_KEYS} keys"
        raise SettingsError(f"{path} holds {what}; correct {CARD_KEYS}")
    return keys


def _keys_in(text: str, path: str) -> Iterator[CardKey]:
    try:
        value = object_of(read_json(text))
    except (ValueError, RecursionError):
        value = {}
    sources: list[Any] = objects_of(value["keys"]) if "keys" in value else [value] if value else []
    for source in sources or [found.group() for found in _PEM.finditer(text)]:
        is_jwk = isinstance(source, dict)
        if is_jwk and source.get("use", "sig") != "sig":
            continue
        key = _imported(source)
        algorithms = () if key is None else _algorithms_of(key)
        if key is None or not algorithms:
            raise SettingsError(
                f"{path} holds something that is no public key of RSA ({_LEAST_RSA} bits or more), EC or"
                f" Ed25519; put only the public keys there that sign the card ({CARD_KEYS})"
            )
        if key.is_private:
            raise SettingsError(
                f"{path} holds a private key; put only public keys there ({CARD_KEYS}), and take care of that"
                " key: who has it can sign cards"
            )
        if is_jwk and (algorithm := source.get("alg")) is not None:
            algorithms = tuple(each for each in algorithms if each == algorithm)
        kid = (text_of(source.get("kid")) or None) if is_jwk else None
        yield CardKey(kid or key.thumbprint(), kid, algorithms, key)


def _imported(jwk_or_pem: Any) -> _Key | None:
    kinds = [
        _KINDS[kind] for kind in _KINDS if not isinstance(jwk_or_pem, dict) or jwk_or_pem.get("kty") == kind
    ]
    for kind in kinds:
        try:
            return kind.import_key(jwk_or_pem)
        except (JoseError, ValueError, TypeError, KeyError, AttributeError):
            continue
    return None


def _algorithms_of(key: _Key) -> tuple[str, ...]:
    if isinstance(key, RSAKey):
        return _RSA if key.raw_value.key_size >= _LEAST_RSA else ()
    return _CURVES.get(key.curve_name, ())


@dataclass(frozen=True, slots=True)
class VerifiedCard:
    """`card`: the part of the card that was signed. `key`: the name of the key that signed it."""

    card: Object
    key: str


def verify_card(card: Object, found_at: str, path: str) -> VerifiedCard:
    """The part of `card` that a key in the file signed.

    Raises CardUntrusted if no key signed it, and SettingsError if the file cannot be used.
    """
    keys = read_card_keys(path)
    signatures = list_of(card.get("signatures"))[:_MOST_SIGNATURES]
    configured = f"{CARD_KEYS} has {_listed([key.name for key in keys])}"
    the_card = f"the agent card at {found_at}"
    if not signatures:
        raise CardUntrusted(
            f"{the_card} is not signed, and {configured}; let the agent sign it, or unset {CARD_KEYS}"
        )
    try:
        forms = list(signed_forms(card))
    except (ValueError, RecursionError) as error:
        raise CardUntrusted(
            f"{the_card} has no canonical form, so its signature says nothing ({error}); let the agent"
            " correct it"
        ) from error
    heads = [_Head.of(object_of(each)) for each in signatures]
    for head in heads:
        for key in head.candidates(keys):
            for form in forms:
                if _is_signed(form, head, key):
                    return VerifiedCard(form.card, key.name)
    raise CardUntrusted(f"{the_card} {_why(heads, keys, configured, path)}")


@dataclass(frozen=True, slots=True)
class _Head:
    """One signature and its protected header. `algorithm` is "" if the signature cannot be used."""

    protected: str
    signature: bytes
    algorithm: str
    kid: str | None

    @classmethod
    def of(cls, signature_json: Object) -> "_Head":
        protected = text_of(signature_json.get("protected"))
        try:
            signature = _decoded(text_of(signature_json.get("signature")))
            header = object_of(read_json(_decoded(protected).decode()))
        except (ValueError, RecursionError):
            return cls(protected, b"", "", None)
        algorithm = "" if "crit" in header else text_of(header.get("alg"))
        return cls(protected, signature, algorithm, text_of(header.get("kid")) or None)

    @property
    def name(self) -> str:
        return self.kid or "a key without a name"

    def candidates(self, card_keys: Sequence[CardKey]) -> list[CardKey]:
        """The keys that may have made the signature. A key without a name may be any."""
        return [
            key
            for key in card_keys
            if self.algorithm in key.algorithms and (None in (self.kid, key.kid) or self.kid == key.kid)
        ]


def _decoded(text: str) -> bytes:
    """Decode base64url. Raises binascii.Error, a ValueError."""
    if not _BASE64URL.fullmatch(text):
        raise binascii.Error("no base64url")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _is_signed(signed_form: SignedForm, head: _Head, key: CardKey) -> bool:
    payload = base64.urlsafe_b64encode(signed_form.payload).rstrip(b"=")
    try:
        algorithm = JWSRegistry.algorithms[head.algorithm]
        return algorithm.verify(head.protected.encode() + b"." + payload, head.signature, key.key)
    except (JoseError, ValueError):
        return False


def _why(heads: Sequence[_Head], card_keys: Sequence[CardKey], configured: str, path: str) -> str:
    """Why no signature is good, with the remedy."""
    known_ids = {key.kid for key in card_keys} - {None}
    usable = [head for head in heads if head.candidates(card_keys)]
    if names := [head.name for head in usable if head.kid in known_ids]:
        return (
            f"was changed after it was signed with {_listed(names)}, or another key of that name signed it,"
            " or its signer writes cards in a form of its own; ask who runs the agent, and correct"
            f" {path} if the key was changed"
        )
    signed_with = f"is signed with {_listed([head.name for head in heads])}"
    if not usable and any(head.kid in known_ids or head.kid is None for head in heads):
        algorithms = _listed([head.algorithm or "nothing that can be read" for head in heads])
        return (
            f"{signed_with} by {algorithms}, which proves nothing here; let the agent sign it with ES256,"
            f" RS256 or EdDSA, as the key wants it ({configured})"
        )
    return (
        f"{signed_with}, and {configured}: the key is another one, or the card was changed; put the agent's"
        f" public key into {path} if you have it from who runs the agent"
    )


def _listed(names: Sequence[str]) -> str:
    quoted = [quote(name) for name in dict.fromkeys(names)][:5]
    return " and ".join(quoted)
