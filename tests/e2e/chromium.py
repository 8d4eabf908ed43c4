"""A small driver for Debian's Chromium, over the DevTools protocol: no browser driver to install.

    with running_chromium(folder) as address:  # once a session
        async with open_browser(address) as browser:  # each test: its cookies and storage are forgotten
            page = await browser.open("http://127.0.0.1:8765/")
            await page.until("document.body.dataset.ready")

`Page.problems` collects what a good page never has: exceptions, console errors, requests to another host.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp

CHROMIUM = shutil.which("chromium")
BLANK = "about:blank"
_FLAGS = (
    "--headless",
    "--force-prefers-reduced-motion",  # to draw what pulses took a quarter of the tests' time
    "--no-sandbox",
    "--disable-gpu",
    "--disable-software-rasterizer",  # nothing here is three-dimensional
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    BLANK,
)
# The shell ends Chromium once its own input ends: when it is closed, or when the test process is gone.
_KEEPER = '"$@" & read -r end; kill $!; wait $!'
PATIENCE = 60.0  # seconds for anything to come true
_UNTIL = """new Promise((done) => {
  const end = performance.now() + %(ms)d;
  const look = () => {
    const it = (%(condition)s);
    if (it || performance.now() > end) done(it instanceof Node ? true : it || false);
    else setTimeout(look, 50);
  };
  look();
})"""
# The middle of an element, once it has stood still between two looks and nothing lies over it: a page
# that is drawn between the look and the press would take the press elsewhere.
_MIDDLE = """((it) => {
  if (!it) return null;
  it.scrollIntoView({block: "nearest"});
  const box = it.getBoundingClientRect();
  const spot = [box.x + box.width / 2, box.y + box.height / 2];
  const before = window.lastSpot;
  const hit = box.width ? document.elementFromPoint(...spot) : null;
  const isStill = hit && it.contains(hit) && before === String(spot);
  window.lastSpot = isStill ? null : String(spot);
  return isStill ? spot : null;
})(document.querySelector(%s))"""
_DROP = """(() => {
  const data = new DataTransfer();
  data.items.add(new File([%(text)s], %(name)s));
  const how = {dataTransfer: data, bubbles: true, cancelable: true};
  for (const kind of ["dragenter", "dragover", "drop"]) document.body.dispatchEvent(new DragEvent(kind, how));
})()"""


class _Link:
    """A connection of the DevTools protocol: commands, answers, events."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._reader = asyncio.create_task(self._read())

    async def send(self, method: str, /, patience: float = PATIENCE, **params: Any) -> dict[str, Any]:
        """One command of the protocol, and what it answers. `patience` is in seconds."""
        number = next(self._numbers)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": params})
        async with asyncio.timeout(patience):
            return await answer

    async def close(self) -> None:
        """Close the connection."""
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._socket.close()

    async def _read(self) -> None:
        async for message in self._socket:
            told = json.loads(message.data)
            if "id" in told:
                waiting = self._answers.pop(told["id"])
                if waiting.done():
                    continue
                if "error" in told:
                    waiting.set_exception(AssertionError(str(told["error"])))
                else:
                    waiting.set_result(told["result"])
            else:
                self._note(told["method"], told["params"])

    def _note(self, method: str, params: dict[str, Any]) -> None:
        """An event."""


class Page(_Link):
    """One tab. All waiting is for conditions."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, host: str) -> None:
        super().__init__(socket)
        self.problems: list[str] = []
        self._loaded = asyncio.Event()
        self._host = host
        self._origins: set[str] = set()

    async def value(self, expression: str, patience: float = PATIENCE) -> Any:
        """What a JavaScript expression gives; a promise is waited for."""
        found = await self.send(
            "Runtime.evaluate", patience, expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise AssertionError(f"{expression}: {found['exceptionDetails']}")
        return found["result"].get("value")

    async def until(self, condition: str, patience: float = PATIENCE) -> Any:
        """Wait until an expression is truthy, looking 20 times a second; its value, True for a node."""
        script = _UNTIL % {"condition": condition, "ms": patience * 1000}
        found = await self.value(script, patience + 5)
        if not found:
            shown = await self.value("document.body.innerText")
            raise AssertionError(f"never came true: {condition}\nproblems: {self.problems}\n{shown}")
        return found

    async def click(self, selector: str) -> None:
        """Click the middle of an element, as a person does."""
        spot = await self.until(_MIDDLE % json.dumps(selector))
        for kind in ("mousePressed", "mouseReleased"):
            await self.send(
                "Input.dispatchMouseEvent", type=kind, x=spot[0], y=spot[1], button="left", clickCount=1
            )

    async def follow(self, selector: str) -> None:
        """Click what leads to another page, and wait until that is loaded."""
        self._loaded.clear()
        await self.click(selector)
        async with asyncio.timeout(PATIENCE):
            await self._loaded.wait()

    async def type(self, text: str) -> None:
        """Type into whatever has the focus."""
        await self.send("Input.insertText", text=text)

    async def press(
        self, key: str, code: int, text: str = "", *, shift: bool = False, control: bool = False
    ) -> None:
        """Press one key, or Shift or Ctrl and that key."""
        extra: dict[str, Any] = {"text": text} if text else {}
        if shift or control:
            extra["modifiers"] = 8 * shift + 2 * control
        for kind in ("keyDown", "keyUp"):
            await self.send(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **extra
            )

    async def enter(self) -> None:
        """Press Enter."""
        await self.press("Enter", 13, "\r")

    async def drop_file(self, name: str, text: str) -> None:
        """Drop a file on the window."""
        await self.value(_DROP % {"name": json.dumps(name), "text": json.dumps(text)})

    async def go_to(self, url: str) -> None:
        """Show `url`, until it is loaded."""
        address = urlsplit(url)
        self._origins.add(f"{address.scheme}://{address.netloc}")
        await self._load("Page.navigate", url=url)

    async def reload(self) -> None:
        """Load the page again. The page before it is gone then, so that no condition comes true there."""
        await self._load("Page.reload")

    async def _load(self, method: str, **params: str) -> None:
        self._loaded.clear()
        await self.send(method, **params)
        async with asyncio.timeout(PATIENCE):
            await self._loaded.wait()

    async def forget(self) -> None:
        """Show nothing, as a new tab that knows nothing of what was shown here."""
        await self._load("Page.navigate", url=BLANK)
        for origin in self._origins:
            await self.send("Storage.clearDataForOrigin", origin=origin, storageTypes="all")
        await self.send("Network.clearBrowserCookies")
        await self.send("Page.resetNavigationHistory")

    async def size(self, width: int, height: int) -> None:
        """Make the window so large."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def prefer(self, **features: str) -> None:
        """Set media features: `prefers_color_scheme="dark"`."""
        media = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        await self.send("Emulation.setEmulatedMedia", features=media)

    async def picture(self, path: Path) -> None:
        """Save what is seen as PNG."""
        shot = await self.send("Page.captureScreenshot", format="png")
        await asyncio.to_thread(path.write_bytes, base64.b64decode(shot["data"]))

    def _note(self, method: str, params: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loaded.set()
        elif method == "Runtime.exceptionThrown":
            self.problems.append(f"exception: {params['exceptionDetails']}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.problems.append(f"console: {params['args']}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"log: {params['entry']['text']}")
        elif method == "Network.requestWillBeSent":
            url = urlsplit(params["request"]["url"])
            if url.scheme not in ("data", "about", "blob") and url.netloc != self._host:
                self.problems.append(f"asked another host: {params['request']['url']}")


class Browser:
    """What one test sees of Chromium: its tabs, without cookies and storage of others.

    The first one is that of the test before, made as new: a profile of its own, with a process for its page,
    took half of the time of a test.
    """

    def __init__(self, http: aiohttp.ClientSession, base: str, link: _Link) -> None:
        self._http, self._base, self._link = http, base, link
        self._pages: list[tuple[str, Page]] = []

    async def open(self, url: str, width: int = 1280, height: int = 800) -> Page:
        """A new tab that shows `url`."""
        tab = await self._blank_tab()
        socket = await self._http.ws_connect(f"{self._base}/devtools/page/{tab}", max_msg_size=0)
        page = Page(socket, urlsplit(url).netloc)
        self._pages.append((tab, page))
        for domain in ("Page", "Runtime", "Log", "Network"):
            await page.send(f"{domain}.enable")
        await page.send("Emulation.setFocusEmulationEnabled", enabled=True)  # no window has it here
        await page.size(width, height)
        await page.go_to(url)
        return page

    async def _blank_tab(self) -> str:
        if not self._pages:
            told = await self._link.send("Target.getTargets")
            for each in told["targetInfos"]:
                if each["type"] == "page" and each["url"] == BLANK:
                    return str(each["targetId"])
        return str((await self._link.send("Target.createTarget", url=BLANK))["targetId"])

    async def close(self) -> None:
        """Forget what was shown, and close all tabs but the first."""
        for number, (tab, page) in enumerate(self._pages):
            if number == 0:
                await page.forget()
            await page.close()
            if number > 0:
                await self._link.send("Target.closeTarget", targetId=tab)


@asynccontextmanager
async def open_browser(address: str) -> AsyncIterator[Browser]:
    """The Chromium at `address`, as new."""
    base = "ws://" + urlsplit(address).netloc
    async with aiohttp.ClientSession() as http:
        link = _Link(await http.ws_connect(address, max_msg_size=0))
        try:
            browser = Browser(http, base, link)
            try:
                yield browser
            finally:
                await browser.close()
        finally:
            await link.close()


@contextmanager
def running_chromium(folder: Path) -> Iterator[str]:
    """The DevTools address of a headless Chromium. It belongs to no event loop, and ends with the context or
    with this process, however that ends.
    """
    assert CHROMIUM is not None
    profile, said = folder / "profile", folder / "stderr"
    with said.open("wb") as stderr:
        process = subprocess.Popen(
            ["sh", "-c", _KEEPER, "sh", CHROMIUM, f"--user-data-dir={profile}", *_FLAGS],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr, start_new_session=True,
        )  # fmt: skip
    try:
        yield _address(profile / "DevToolsActivePort", said)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # a group of its own: the shell and Chromium
            process.wait()


def _address(file: Path, said: Path) -> str:
    """Chromium writes its port and path into a file once it listens."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = file.read_text().splitlines() if file.exists() else []
        if len(found) == 2:
            return f"ws://127.0.0.1:{found[0]}{found[1]}"
        time.sleep(0.02)
    raise AssertionError(f"Chromium did not start:\n{said.read_text(errors='replace')}")
