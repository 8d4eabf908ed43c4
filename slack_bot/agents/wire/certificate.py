"""The bot's own certificate, for servers that ask for one (mTLS).

Its files are read again when they change.
"""

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
    """The file of the certificate, and the file of its key (None: the same file)."""

    file: str
    key_file: str | None
    password: str

    @classmethod
    def of(cls, client: ClientSettings) -> Self | None:
        """The certificate of the settings; None if there is none."""
        if client.certificate is None:
            return None
        password = client.certificate_password
        secret = "" if password is None else password.get_secret_value()
        return cls(client.certificate, client.certificate_key, secret)

    def shown_by(self, context: ssl.SSLContext) -> Callable[[Request], Awaitable[None]]:
        """Make `context` present the certificate. The result is a hook to call before each request.

        The hook reads changed files again. Raises SettingsError if the certificate cannot be used.
        """
        self._load(context)
        loaded_state = self._state()

        async def reload(request: Request) -> None:
            nonlocal loaded_state
            if (state := self._state()) != loaded_state:
                try:
                    self._load(context)
                except SettingsError as error:
                    raise WrongAddress(str(error)) from error
                loaded_state = state

        return reload

    def _state(self) -> tuple[tuple[int, int, int], ...]:
        """A value that differs when a file is written again or replaced."""
        try:
            stats = [Path(each).stat() for each in (self.file, self.key_file) if each is not None]
        except OSError:
            return ()
        return tuple((each.st_ino, each.st_mtime_ns, each.st_size) for each in stats)

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
    """Raise SettingsError if the file cannot be read, or has no such part."""
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
