"""The wording of readings: users' text made safe, numbers, ranges of layers, leading values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

import regex

__all__ = [
    "ABOUT_SAME",
    "MARGIN",
    "about_same",
    "adding_up",
    "are_alike",
    "bold",
    "cut",
    "cut_start",
    "escape",
    "isolated",
    "leading",
    "listed",
    "listed_names",
    "named_character",
    "number",
    "occurrence",
    "percent",
    "placed",
    "quoted",
    "several",
    "shortened",
    "signed",
    "span",
    "two",
]

MARGIN = 0.01
"""The difference above which one of two numbers with two decimals is called greater."""
ABOUT_SAME = 1.25
"""The largest ratio of two amounts that are called about the same."""

# Sequences that Streamlit's Markdown plugins turn into an icon, an arrow or a link even if escaped.
_DRAWN = re.compile(
    r":(?=material|streamlit)|<(?=[-=])|-(?=[->])|>(?==)|~(?==)|(?i:https?|ftp)(?=:)"
    r"|(?i:www)(?=\.)|@"
)
_WORD_JOINER = "\u2060"  # invisible
_LEFTWARDS = regex.compile(r"[\p{Bidi_Class=R}\p{Bidi_Class=AL}\p{Bidi_Class=AN}\p{Bidi_Control}]")
_CHARACTER = regex.compile(r"\X")  # as readers see them: a letter with its marks
_MAX_MARKS = 32  # code points of one such character beyond which it may be cut
_MARKDOWN = str.maketrans({c: "\\" + c for c in r"\`*_{}[]<>()#+-.!|~$:&"})


def escape(text: str) -> str:
    """The text with every Markdown, LaTeX and emoji-code character shown as typed."""
    return _DRAWN.sub(rf"\g<0>{_WORD_JOINER}", text).translate(_MARKDOWN)


def quoted(text: str, longest: int = 24) -> str:
    """A user's text in quotation marks, truncated, with its Markdown characters escaped.

    A text of invisible characters only is given by their codes, such as U+200B.
    """
    is_visible = any(c.isprintable() and not c.isspace() for c in text)
    codes = "" if is_visible else " ".join(f"U+{ord(c):04X}" for c in text[:3])
    return f"“{isolated(escape(codes or shortened(text, longest)))}”"


def isolated(text: str) -> str:
    """The text, isolated from the direction of what stands around it if it may run leftwards.

    Otherwise a number behind an Arabic or Hebrew word is drawn on the word's other side.
    """
    return f"\u2068{text}\u2069" if _LEFTWARDS.search(text) else text


def named_character(character: str) -> str:
    """A character with its code, "é (U+00E9)"; only the code if it is invisible."""
    code = f"U+{ord(character):04X}"
    return f"{character} ({code})" if character.isprintable() else code


def placed(label: str, position: int, labels: Sequence[str], longest: int = 24) -> str:
    """A label in quotation marks, with its position if another one of `labels` looks the same."""
    return f"{quoted(label, longest)}{_where(label, position, labels, longest)}"


def occurrence(label: str, position: int, labels: Sequence[str], longest: int = 24) -> str:
    """A label for a title: unquoted, with its position if another of `labels` looks the same."""
    return f"{shortened(label, longest)}{_where(label, position, labels, longest)}"


def _where(label: str, position: int, labels: Sequence[str], longest: int) -> str:
    name = shortened(label, longest)
    alike = sum(shortened(other, longest) == name for other in labels)
    return f" at position {position}" if alike > 1 else ""


def several(names: Sequence[str]) -> str:
    """Names in a row: one, two of them, or the first and the number of others."""
    if len(names) > 2:
        return f"{names[0]} and {len(names) - 1} others"
    return " and ".join(names)


def listed_names(names: Sequence[str]) -> str:
    """All of a few names in a row: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def leading(values: Sequence[float], margin: float = MARGIN) -> list[int]:
    """The indices of values within a margin of the highest, highest first; all others are lower."""
    highest = max(values, default=0.0)
    near = [i for i, value in enumerate(values) if highest - value <= margin]
    return sorted(near, key=lambda i: -values[i])


def are_alike(values: Sequence[float], margin: float = MARGIN) -> bool:
    """True if no value can be called greater than another: all lie within two margins.

    Otherwise the values within a margin of the highest and of the lowest do not overlap.
    """
    return max(values) - min(values) <= 2 * margin


def about_same(values: Sequence[float]) -> bool:
    """True if all values have one sign, and the largest is at most `ABOUT_SAME` times the smallest.

    Values that are all zero are the same.
    """
    low, high = sorted((min(values), max(values)), key=abs)
    return low * high >= 0 and abs(high) <= ABOUT_SAME * abs(low)


def shortened(text: str, longest: int) -> str:
    """A text on one line, truncated."""
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else cut(flat, longest - 1) + "…"


def cut(text: str, longest: int) -> str:
    """The first characters of a text; no combining mark is cut off its letter.

    Only more marks on one letter than a text may have characters are cut.
    """
    if len(text) <= longest or text.isascii():
        return text[:longest]
    ends = (match.end() for match in _CHARACTER.finditer(text[: longest + _MAX_MARKS]))
    return text[: max((end for end in ends if end <= longest), default=0) or longest]


def cut_start(text: str, longest: int) -> str:
    """The last characters of a text; no combining mark is cut off its letter."""
    start = max(0, len(text) - longest)
    before = max(0, start - _MAX_MARKS)
    starts = (before + match.start() for match in _CHARACTER.finditer(text[before:]))
    return text[min((at for at in starts if at >= start), default=start) :]


def number(value: float, form: str = ".2f") -> str:
    """A number in a format, with a real minus sign; a value that rounds to zero has no sign."""
    text = format(value, form)
    return text.replace("-", "\N{MINUS SIGN}" if re.search("[1-9]", text) else "")


def two(value: float) -> str:
    """Two decimals, with a real minus sign; a value that rounds to zero has no sign."""
    return number(float(value))


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign; a number that rounds to zero has none."""
    rounded = round(float(value), digits) + 0.0
    sign = "+" if rounded > 0 else "\N{MINUS SIGN}" if rounded < 0 else ""
    return f"{sign}{abs(rounded):.{digits}f}"


def bold(value: float) -> str:
    """Two decimals in bold, as numbers appear in a reading."""
    return f"**{two(value)}**"


def span(values: Sequence[float], form: Callable[[float], str] = two) -> str:
    """The range from the lowest to the highest, as formatted; one number if both look the same."""
    low, high = form(min(values)), form(max(values))
    return low if low == high else f"{low} to {high}"


def listed(layers: Sequence[int]) -> str:
    """Layers in words, runs shortened: "layers 1 to 4, 6"."""
    if not layers:
        return ""
    runs: list[list[int]] = []
    for layer in layers:
        if runs and layer == runs[-1][-1] + 1:
            runs[-1].append(layer)
        else:
            runs.append([layer])
    numbers = [
        f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs
    ]
    return ("layer " if len(layers) == 1 else "layers ") + ", ".join(numbers)


def adding_up(shares: Sequence[float]) -> list[float]:
    """Shares in whole per cent that add up to their rounded sum (by the largest remainders).

    One that would become none or all stays as it is: `percent` says "under 1%" or "over 99%".
    """
    exact = [100 * share for share in shares]
    whole = [math.floor(value) for value in exact]
    missing = round(sum(exact)) - sum(whole)
    for i in sorted(range(len(exact)), key=lambda i: whole[i] - exact[i])[:missing]:
        whole[i] += 1
    both = zip(shares, whole, strict=True)
    return [share if n in (0, 100) else n / 100 for share, n in both]


def percent(share: float) -> str:
    """A share in whole per cent; only none and all are shown as 0% and 100%."""
    rounded = round(100 * share)
    if rounded == 0 and share:
        return "under 1%" if share > 0 else "just below 0%"
    if rounded == 100 and share < 1:
        return "over 99%"
    return f"{number(rounded, 'd')}%"
