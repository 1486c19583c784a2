"""Reading sentences back: each is taken apart, and what it claims is checked against numbers.

A page's test says, for every sentence that its readings and titles can have, a pattern and a check.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

TOKEN = r"“(?P<{0}>[^”]*)”(?: at position (?P<{0}_at>\d+))?"
PERCENT = r"(?:just below 0%|under 1%|over 99%|-?\d+%)"
NUMBER = r"-?\d+\.\d\d"

LABELS = (
    *("the", "python", "##on", "[CLS]", "[SEP]", "[UNK]", "[PAD]", "a", "A", ".", "*", "_", "`"),
    *(
        "🐍",
        "👩‍👧",
        "🇺🇦",
        "שלי",
        "مرحبا",
        "蟒",
        "蛇",
        "ﬁ",
        "e\u0301",
        "<b>",
        "</b>",
        "$x$",
        ":snake:",
    ),
    *("Ġthe", "▁the", "http://a.b", "\\", "|", "%s", "{0}", "0.50", "50%", "x" * 40, "x" * 41),
)


def odd_labels(chance: random.Random, n: int) -> list[str]:
    """Names of tokens as models have them: some stand there again, some read alike when cut."""
    few = chance.sample(LABELS, chance.choice((1, 2, 5, 20)))
    return [chance.choice(few) for _ in range(n)]


def bare(text: str) -> str:
    """A text without Markdown's signs."""
    return re.sub(r"\\(.)", r"\1", text.replace("**", "")).replace("\u2060", "")


def read_back(text: str, claims: Mapping[str, Callable[..., None]]) -> None:
    """Every sentence of a text fits one pattern, and what it claims holds; nothing is left over.

    Args:
        text: without Markdown's signs.
        claims: for each pattern, what takes its named groups and asserts.
    """
    rest = text
    while rest:
        for pattern, check in claims.items():
            found = re.match(rf"(?:{pattern})(?: |$)", rest, re.DOTALL)
            if found:
                check(**found.groupdict())
                rest = rest[found.end() :]
                break
        else:
            raise AssertionError(f"Nothing reads: {rest!r} of {text!r}")


def place(name: str, at: str | None, labels: Sequence[str], longest: int = 24) -> int:
    """The one position that a name as it is said stands for."""
    alike = [i for i, label in enumerate(labels) if cut(label, longest) == name]
    if at is None:
        assert len(alike) == 1, (name, labels)
        return alike[0]
    assert len(alike) > 1, (name, labels)
    assert int(at) in alike, (name, at, labels)
    return int(at)


def cut(label: str, longest: int = 24) -> str:
    """A label as it is said."""
    flat = " ".join(label.split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1]}…"


def is_percent(said: str, share: float) -> bool:
    """Whether a share is said right, and never as none or all where it is neither."""
    share, slack = float(share), 0.005001
    if said == "under 1%":
        return 0 < share <= slack
    if said == "over 99%":
        return 1 - slack <= share < 1
    if said == "just below 0%":
        return -slack <= share < 0
    if said in ("0%", "100%") and not (said == "100%" and share > 1):
        return abs(share - int(said[:-1]) / 100) < 1e-6
    return abs(share - int(said[:-1]) / 100) <= slack


def is_two(said: str, value: float) -> bool:
    """Whether a number is said right to two decimals."""
    number = float(said.replace("\N{MINUS SIGN}", "-"))
    return abs(number - float(value)) <= 0.005001 and not said.startswith(("-", "−0.00"))


def nothing(**_: Any) -> None:
    """For a sentence that claims nothing of the input."""
