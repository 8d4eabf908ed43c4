"""Settings of what is fetched from addresses that an agent named."""

from typing import Literal

from pydantic import Field

from .section import SettingsSection, Texts


class WebSettings(SettingsSection):
    """Files and pictures that an agent names by their address. What is not fetched stays a link."""

    fetch_hosts: Texts = ()
    """Hosts (host or host:port; *.host for all below it) from which such a file is fetched, by https only.
    Empty: none is. Never fetched from: addresses that are not public."""
    images: Literal["link", "upload"] = "link"
    """What becomes of a picture in the text of an answer: a link, or with `upload` also a file below the
    answer, if its host is among `fetch_hosts`. Slack is never given a foreign address to fetch."""
    max_bytes: int = Field(default=10 * 1024 * 1024, gt=0)
    """Bytes of such a file, unpacked; of a larger one the link stays."""
    fetch_timeout: float = Field(default=20.0, gt=0)
    """Seconds to fetch it, in all."""
    max_redirects: int = Field(default=3, ge=0)
    """Times that an address may send on to another one; each is checked as the first."""
