"""`python -m docs.take_screenshots`: renew the README's pictures in docs/images.

Arguments are the names of single pictures, such as `map phone`. The app is started on a free port,
with a data folder of its own and no models but the bundled one, so the pictures do not depend on
what else is on the machine. CONTEXTLENS_CHROMIUM names the browser.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from contextlens.core import BUNDLED_ID, Settings, open_service
from contextlens.ui.models import tasks
from tests.browser.rest import settle
from tests.support.app_server import ROOT, launch

IMAGES = Path(__file__).with_name("images")
SECONDS = 300
MAX_NOISE = 16  # of 255 in a channel
WORKS = "[data-testid=stProgress], [data-testid=stSpinner], [data-testid=stException]"
PLOT = ".js-plotly-plot .main-svg"


@dataclass(frozen=True)
class Screenshot:
    """A picture of one page.

    Attributes:
        name: of the file, without its ending.
        path: the address of the page, with the choices that differ from its defaults.
        drawn: a selector of what is on screen once the page shows its result.
        collected: pages whose views are put into the report first.
    """

    name: str
    path: str
    drawn: str = PLOT
    theme: str = "light"
    width: int = 1440
    height: int = 900
    collected: tuple[str, ...] = ()

    @property
    def viewport(self) -> ViewportSize:
        """The size of the window, in CSS pixels."""
        return {"width": self.width, "height": self.height}


SCREENSHOTS = (
    Screenshot("start-here", "/"),
    Screenshot("tokens", "/tokens", drawn="[data-testid=stDataFrame]"),
    Screenshot("masks", "/masks"),
    Screenshot("embedding-layer-dark", "/embedding_layer", theme="dark"),
    Screenshot("layers", "/layers"),
    Screenshot("attention", "/attention", drawn="[role=figure]"),
    Screenshot("anatomy", "/anatomy"),
    Screenshot("meaning-in-context", "/meaning"),
    Screenshot("why-alike", "/why", drawn=f".st-key-why_chart {PLOT}"),
    Screenshot("senses", "/senses", drawn=f".st-key-senses_chart {PLOT}"),
    Screenshot("pairs", "/pairs", drawn=f".st-key-pairs_chart {PLOT}"),
    Screenshot("map", "/map", drawn=f".st-key-map_chart {PLOT}"),
    Screenshot("sentence-vectors", "/sentences"),
    Screenshot("probe", "/probe", drawn=f".st-key-probe_chart {PLOT}"),
    Screenshot("corpora", "/corpora"),
    Screenshot("proof", "/proof", drawn=f".st-key-proof_chart {PLOT}"),
    Screenshot("report", "/report", drawn=".report .view", collected=("/meaning", "/layers")),
    Screenshot("phone", "/", width=390, height=844),
)


def main(names: Sequence[str]) -> str | int:
    """Take the named pictures, or all; return 0 or what is wrong with the names."""
    known = {screenshot.name: screenshot for screenshot in SCREENSHOTS}
    if unknown := sorted(set(names) - known.keys()):
        return f"No picture is called {', '.join(unknown)}. There are: {', '.join(known)}."
    with app() as address, chromium() as browser:
        for name in names or known:
            content = take(browser, address, known[name])
            file = IMAGES / f"{name}.png"
            is_new = not file.exists() or differ(file.read_bytes(), content)
            if is_new:
                file.write_bytes(content)
            print(f"{file.name}  {'renewed' if is_new else 'as before'}", flush=True)
    return 0


@contextmanager
def app() -> Iterator[str]:
    """Start the app, with everything measured that a page says of its model; yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        service = open_service(Settings(data_dir=data, allow_downloads=False))
        tasks.keep_measures(service.load(BUNDLED_ID), service, data)
        own = {"CONTEXTLENS_DATA_DIR": str(data), "HF_HOME": str(Path(folder) / "hub")}
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("CONTEXTLENS_", "HF_"))}
        server = launch(ROOT / "app.py", Path(folder) / "log.txt", {**kept, **own})
        try:
            server.wait()
            yield server.address
        finally:
            server.stop()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser, which finds nothing but this machine.

    Raises:
        SystemExit: there is none.
    """
    path = os.environ.get("CONTEXTLENS_CHROMIUM") or shutil.which("chromium")
    if not path:
        sys.exit("No Chromium: install it, or give its path in CONTEXTLENS_CHROMIUM.")
    local = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", local])
        yield browser
        browser.close()


def take(browser: Browser, address: str, screenshot: Screenshot) -> bytes:
    """Open a page in a new visit and return the picture of its finished result, as PNG."""
    page = browser.new_page(
        viewport=screenshot.viewport,
        color_scheme="dark" if screenshot.theme == "dark" else "light",
        reduced_motion="reduce",
    )
    page.set_default_timeout(SECONDS * 1000)
    for path in screenshot.collected:
        page.goto(address + path)
        page.locator(f".stMain {PLOT}").first.wait_for()
        settle(page)
        page.get_by_role("button", name="Download", exact=True).click()
        page.get_by_role("button", name="Add to report").click()
        page.get_by_text("Open the report").wait_for()
    page.goto(address + screenshot.path)
    page.locator(screenshot.drawn).first.wait_for()
    # A job draws its progress in runs of its own, and between two of them the page is at rest.
    page.wait_for_function(
        """selector => ![...document.querySelectorAll(selector)].some(e => e.checkVisibility())""",
        arg=WORKS,
    )
    settle(page)
    content = page.screenshot()
    page.context.close()
    return smaller(content)


def differ(old: bytes, new: bytes) -> bool:
    """Return True if two pictures differ to the eye: two runs of one page differ by up to 6."""
    one, other = (Image.open(io.BytesIO(content)).convert("RGB") for content in (old, new))
    if one.size != other.size:
        return True
    return any(high > MAX_NOISE for _, high in ImageChops.difference(one, other).getextrema())


def smaller(content: bytes) -> bytes:
    """Return a PNG with 256 colours: 40% of the bytes, and no channel more than 14 of 255 off.

    The default, median cut, gives small areas of a rare colour a common one, up to 108 off.
    """
    picture = Image.open(io.BytesIO(content)).convert("RGB")
    few = picture.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    out = io.BytesIO()
    few.save(out, "PNG", optimize=True)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
