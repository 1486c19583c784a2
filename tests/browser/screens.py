"""Sizes of screens for browser tests, and questions that the page itself answers."""

from __future__ import annotations

import os

from playwright.sync_api import Locator

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script><b>python</b>"
DESK = {"viewport": {"width": 1440, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDER_THAN_ITSELF = """
() => [document.scrollingElement, document.querySelector('[data-testid="stMain"]')]
  .filter(element => element.scrollWidth > element.clientWidth)
  .map(element => `${element.tagName}: ${element.scrollWidth} > ${element.clientWidth}`)
"""
OVER_THE_TITLE = """
() => {
  const boxOf = node => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getBoundingClientRect();
  };
  const heading = document.querySelector('h1');
  const style = getComputedStyle(heading);
  const whole = heading.getBoundingClientRect();
  const title = {  // its lines, without padding
    ...boxOf(heading).toJSON(),
    top: whole.top + parseFloat(style.paddingTop),
    bottom: whole.bottom - parseFloat(style.paddingBottom),
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.data.trim() || heading.contains(node)) continue;
    if (!node.parentElement.checkVisibility({ opacityProperty: true })) continue;
    const box = boxOf(node);
    const across = Math.min(box.right, title.right) - Math.max(box.left, title.left);
    const down = Math.min(box.bottom, title.bottom) - Math.max(box.top, title.top);
    if (across > 1 && down > 1) found.push(node.data.trim());
  }
  return found;
}
"""
OVER_EACH_OTHER = """
() => {  // parts of the header: its title and question, its buttons, and those of Streamlit's bar
  const row = document.querySelector('.st-key-page_title');
  const copy = row.querySelector('[class*="st-key-copy_link"] [data-testid^="stBidi"]');
  const parts = [
    ...row.querySelectorAll('h1, [data-testid="stCaptionContainer"] p'),
    ...row.querySelectorAll('button'),
    ...document.querySelectorAll('.stAppHeader button'),
    (copy.shadowRoot ?? copy).querySelector('.copy'),
  ].filter(part => part.checkVisibility({ visibilityProperty: true }));
  const boxOf = part => {
    const range = document.createRange();
    range.selectNodeContents(part);
    return part.matches('h1, p') ? range.getBoundingClientRect() : part.getBoundingClientRect();
  };
  const slack = 3;  // between two lines of text
  return parts.flatMap((a, i) => parts.slice(i + 1).filter(b => {
    const [one, other] = [boxOf(a), boxOf(b)];
    return Math.min(one.right, other.right) - Math.max(one.left, other.left) > slack
      && Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > slack;
  }).map(b => `${a.innerText || a.ariaLabel} and ${b.innerText || b.ariaLabel}`));
}
"""
WATCH = """
selector => {
  const seen = new Set();
  window.__seen = seen;
  const look = () => {
    const box = document.querySelector(selector)?.getBoundingClientRect();
    seen.add(box ? `${Math.round(box.top)} ${Math.round(box.height)}` : 'gone');
    if (window.__seen === seen) requestAnimationFrame(look);
  };
  look();
}
"""
FOLLOW = """
path => {
  history.pushState(null, '', path);
  dispatchEvent(new PopStateEvent('popstate'));
}
"""
LOOKS = os.environ.get("CONTEXTLENS_SCREENSHOTS", "")
SEEN = "() => { const seen = [...window.__seen]; window.__seen = null; return seen; }"


def box(locator: Locator) -> dict[str, float]:
    found = locator.bounding_box()
    assert found is not None
    return {**found, "right": found["x"] + found["width"], "bottom": found["y"] + found["height"]}


def rgb(color: str) -> list[float]:
    return [float(part) for part in color.strip("rgba()").split(",")[:3]]


def contrast(first: str, second: str) -> float:
    """WCAG 2's ratio between two opaque colours, from 1 to 21."""

    def luminance(color: str) -> float:
        channels = [part / 255 for part in rgb(color)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def style(locator: Locator, name: str) -> str:
    return locator.evaluate("(node, name) => getComputedStyle(node)[name]", name)


def look(reader: object, name: str) -> None:
    """Take a screenshot if a folder for them is set."""
    if LOOKS:
        reader.page.screenshot(path=f"{LOOKS}/{name}.png")


def fits(place: Locator) -> bool:
    """True if nothing is wider than its box."""
    return place.evaluate(
        "e => [e, ...e.querySelectorAll('*')].every(x => x.scrollWidth <= x.clientWidth + 1"
        " || getComputedStyle(x).display === 'inline' || x.clientWidth === 0)"
    )
