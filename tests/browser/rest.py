"""Waiting until a page is at rest, by asking the page itself, which works at any speed.

It waits for a state, seen in frames that the browser really drew, never for a fixed time.
"""

from __future__ import annotations

from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

__all__ = ["PATIENCE", "Runs", "settle"]

PATIENCE = 90.0
"""Seconds until a wait gives up; no passing test depends on it."""

_PART = ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
_ENDS = {"page asked": {"page over"}, "part asked": {"part over", "page over"}}
"""Events that end a requested run; parts of a page also run by themselves, again and again."""
_POLL = 10.0  # milliseconds between two looks at the socket's messages

AT_REST = """
() => {
  const shown = node => node.checkVisibility({ visibilityProperty: true });
  const all = selector => [...document.querySelectorAll(selector)];
  const unrest = () => {
    const app = document.querySelector('[data-testid="stApp"]')?.dataset;
    if (app?.testScriptState !== 'notRunning') return 'the script runs';
    if (app.testConnectionState !== 'CONNECTED') return 'there is no connection';
    if (document.querySelector('[data-testid="stSkeleton"]')) return 'there is a skeleton';
    if (document.querySelector('[data-stale="true"]')) return 'something is stale';
    if (document.fonts.status !== 'loaded') return 'a font is being loaded';
    const empty = node => shown(node) && !(node.shadowRoot ?? node).childElementCount;
    if (all('[data-testid^="stBidiComponent"]').some(empty)) return 'a component is empty';
    for (const chart of all('[data-testid="stPlotlyChart"]').filter(shown)) {
      const plot = chart.querySelector('.js-plotly-plot');
      if (!plot?.querySelector('.main-svg')) return 'a chart is not drawn';
      const glides = plot._transitioning || plot._transitionData?._animationRaf;
      if (glides) return 'a chart moves';
    }
    return '';
  };
  const layout = () => all(
    'h1, h2, h3, [role="figure"], [class*="st-key-"], [data-testid="stVerticalBlock"],'
    + ' [data-testid^="stBidiComponent"], .js-plotly-plot, .js-plotly-plot .main-svg'
  ).map(node => {
    const { top, width, height } = node.getBoundingClientRect();
    return `${Math.round(top)} ${Math.round(width)} ${Math.round(height)}`;
  }).join();
  const now = performance.now();
  const before = window.__rest;
  const why = unrest();
  const places = why ? '' : layout();
  if (why || before?.places !== places) {
    window.__rest = { why: why || 'something moves', places, frames: 0, drawn: 0, at: now };
    return false;
  }
  const drawn = before.drawn + Math.min(now - before.at, 50);  // a stall counts as one frame
  window.__rest = { ...before, frames: before.frames + 1, drawn, at: now };
  return window.__rest.frames >= 5 && drawn >= 250;
}
"""


def settle(page: Page) -> None:
    """Wait until the page is at rest.

    That is: the script does not run, nothing is stale or a skeleton, fonts, charts and components
    are drawn, and nothing moves for several drawn frames and a quarter of a second.
    """
    page.evaluate("() => { window.__rest = null; }")
    try:
        page.wait_for_function(AT_REST, timeout=PATIENCE * 1000, polling="raf")
    except PlaywrightTimeout as exc:
        why = page.evaluate("() => window.__rest?.why")
        raise AssertionError(f"The page did not come to rest: {why}.") from exc


class Runs:
    """Requests and ends of a page's script runs, as heard on its socket."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._told: list[str] = []
        page.on("websocket", self._hear)

    @property
    def now(self) -> int:
        """This moment, for waiting for a run requested after it."""
        return len(self._told)

    def page_ran(self, since: int) -> bool:
        """True if the whole page ran again after this moment, requested or by itself."""
        return "page over" in self._told[since:]

    def told(self, since: int, what: str) -> int:
        """How often something was told after this moment: "page asked", "page over"."""
        return self._told[since:].count(what)

    def wait(self, since: int) -> None:
        """Wait for the end of a run requested after this moment.

        Raises:
            AssertionError: If none was requested.
        """
        for _ in range(int(PATIENCE * 1000 / _POLL)):
            told = self._told[since:]
            asked = next((at for at, what in enumerate(told) if what in _ENDS), None)
            if asked is not None and _ENDS[told[asked]] & set(told[asked:]):
                return
            self._page.wait_for_timeout(_POLL)
        raise AssertionError(f"No run was asked for and came to its end: {self._told[since:]}")

    def _hear(self, socket: object) -> None:
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, frame: bytes | str) -> None:
        if isinstance(frame, bytes):
            asked = BackMsg.FromString(frame)
            if asked.HasField("rerun_script") and not asked.rerun_script.is_auto_rerun:
                is_part = bool(asked.rerun_script.fragment_id)
                self._told.append("part asked" if is_part else "page asked")

    def _received(self, frame: bytes | str) -> None:
        if isinstance(frame, bytes) and len(frame) < 200:  # the end of a run is a short message
            told = ForwardMsg.FromString(frame)
            early = ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN
            if told.WhichOneof("type") == "script_finished" and told.script_finished != early:
                is_part = told.script_finished == _PART
                self._told.append("part over" if is_part else "page over")
