"""The bot's own certificate, for servers that want one (mTLS). Its files are read again when they change."""

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx

from ...errors import SettingsError, WrongAddress
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

    def shown_by(self, context: ssl.SSLContext) -> Callable[[httpx.Request], Awaitable[None]]:
        """Let `context` show it. What is returned is to be called before each request.

        SettingsError: it cannot be used.
        """
        self._load(context)
        loaded = self._state()

        async def reload(request: httpx.Request) -> None:
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
        for file, setting in ((self.file, _PREFIX), (key, f"{_PREFIX}_KEY")):
            try:
                text = Path(file).read_text("ascii", "replace")
            except OSError as error:
                raise SettingsError(
                    f"{file} cannot be read ({error.strerror}); correct {setting}, or the owner and mode of"
                    " that file"
                ) from error
            what = "PRIVATE KEY-----" if file == key else "-----BEGIN CERTIFICATE-----"
            if what not in text:
                kind = "private key" if file == key else "certificate"
                raise SettingsError(f"{file} holds no {kind} as PEM; correct {setting}")
        try:
            context.load_cert_chain(self.file, key, self.password)
        except ssl.SSLError as error:
            if "MISMATCH" in (error.reason or ""):
                what = f"the key in {key} is not that of the certificate in {self.file}"
                raise SettingsError(f"{what}; correct {_PREFIX}_KEY") from error
            what = f"the certificate in {self.file} or its key in {key} cannot be used ({error.reason})"
            raise SettingsError(f"{what}; see whether {_PREFIX}_PASSWORD is right") from error
