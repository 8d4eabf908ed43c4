"""The bot's own certificate, for servers that want one (mTLS). Its files are read again when they change."""

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from ...errors import SettingsError, WrongAddress
from ...http_client import Request
from ...settings.models import ClientSettings

_PREFIX = "SLACK_BOT_AGENT__CLIENT__CERTIFICATE"


@dataclass(frozen=True, slots=True)
class Certificate:
    """Its file, and that of its key, which may be the same."""

    file: str
    key_file: str | None
    password: str

    @classmethod
    def of(cls, client: ClientSettings) -> Self | None:
        """The one of the settings; None: there is none."""
        if client.certificate is None:
            return None
        password = client.certificate_password
        secret = "" if password is None else password.get_secret_value()
        return cls(client.certificate, client.certificate_key, secret)

    def shown_by(self, context: ssl.SSLContext) -> Callable[[Request], Awaitable[None]]:
        """Let `context` show it. What is returned is to be called before each request.

        SettingsError: it cannot be used.
        """
        self._load(context)
        loaded = self._state()

        async def reload(request: Request) -> None:
            nonlocal loaded
            if (state := self._state()) != loaded:
                try:
                    self._load(context)
                except SettingsError as error:
                    raise WrongAddress(str(error)) from error
                loaded = state

        return reload

    def _state(self) -> tuple[tuple[int, int, int], ...]:
        """What changes when a file is written anew, or put in the place of another."""
        try:
            found = [Path(each).stat() for each in (self.file, self.key_file) if each is not None]
        except OSError:
            return ()
        return tuple((each.st_ino, each.st_mtime_ns, each.st_size) for each in found)

    def _load(self, context: ssl.SSLContext) -> None:
        key = self.key_file or self.file
        key_setting = _PREFIX if self.key_file is None else f"{_PREFIX}_KEY"
        _check(self.file, "CERTIFICATE", "certificate", _PREFIX)
        _check(key, "PRIVATE KEY", "private key", key_setting)
        try:
            context.load_cert_chain(self.file, key, self.password)
        except ssl.SSLError as error:
            if "MISMATCH" in (error.reason or ""):
                what = f"the key in {key} is not that of the certificate in {self.file}"
                raise SettingsError(f"{what}; correct {key_setting}") from error
            what = f"the certificate in {self.file} or its key in {key} cannot be used"
            raise SettingsError(
                f"{what}; see whether the files are whole and {_PREFIX}_PASSWORD is right"
            ) from error


def _check(file: str, mark: str, kind: str, setting: str) -> None:
    """SettingsError: it cannot be read, or has no such part."""
    try:
        text = Path(file).read_text("ascii", "replace")
    except OSError as error:
        raise SettingsError(
            f"{file} cannot be read ({error.strerror}); correct {setting}, or the owner and mode of that file"
        ) from error
    if f"{mark}-----" not in text:
        remedy = f"correct {setting}"
        if kind == "private key" and setting == _PREFIX:
            remedy = f"set {_PREFIX}_KEY to the file of its key"
        raise SettingsError(f"{file} holds no {kind} as PEM; {remedy}")
