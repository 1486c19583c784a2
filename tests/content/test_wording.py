"""Typed text stands in sentences as typed, although Markdown would change it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.content.wording import (
    adding_up,
    cut,
    cut_start,
    escape,
    listed_names,
    named_character,
    number,
    quoted,
    shortened,
)
from contextlens.figures.theme import plain

# What Streamlit's Markdown replaces in text even where every sign is escaped, since its plugins
# (icons, arrows, automatic links) read the text that is left. Tried in a browser with 1.67.
REPLACED = re.compile(
    r":material/\w+:|:material_\w+:|:streamlit:|<-|->|--|>=|<=|~=|(?i:https?://|www\.)|\w@\w"
)


def unescaped(text: str) -> str:
    """The text without backslashes before punctuation, as Markdown shows it."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def test_markdown_latex_and_html_are_shown_as_typed() -> None:
    assert quoted("<b>*$x_1$") == r"“\<b\>\*\$x\_1\$”"
    signs = r"\`*_{}[]<>()#+-.!|~$&"
    assert unescaped(escape(signs)).replace("\u2060", "") == signs
    for sign in signs:
        assert escape(sign).replace("\u2060", "") == "\\" + sign


@given(st.text(alphabet=st.characters(exclude_characters="\u2060", exclude_categories=["Cs"])))
@settings(deadline=None)
def test_escaping_loses_nothing(text: str) -> None:
    assert unescaped(escape(text)).replace("\u2060", "") == text


@pytest.mark.parametrize(
    "typed",
    [
        *(":material/home:", ":material_home:", ":streamlit:", "a -> b", "a <- b", "a <-> b"),
        *("1 -- 2", "a >= b", "a <= b", "a ~= b", "http://evil.example/x", "www.evil.example"),
        *("HTTPS://evil.example/x", "Www.evil.example", "me@evil.example"),
    ],
)
def test_what_streamlit_would_draw_as_icon_arrow_or_link_stays_text(typed: str) -> None:
    assert not REPLACED.search(unescaped(quoted(typed)))


def test_a_long_word_is_cut_and_a_short_one_is_not() -> None:
    assert quoted("x" * 24) == f"“{'x' * 24}”"
    assert quoted("x" * 25) == f"“{'x' * 23}…”"
    assert quoted("two\n words\t") == "“two words”"


@pytest.mark.parametrize("character", ["ते", "e\u0301", "حَ", "ด้", "👩\u200d👧", "a"])
def test_a_cut_keeps_marks_with_their_letters(character: str) -> None:
    text = character * 9
    for longest in range(2 * len(character), 8 * len(character)):
        n = longest // len(character)
        assert cut(text, longest) == character * n
        assert cut_start(text, longest) == character * n
        assert shortened(text, longest + 1) == character * n + "…"
    marks = "e" + "\u0301" * 200
    assert len(cut(marks, 50)) == len(cut_start(marks, 50)) == 50


def test_invisible_characters_are_given_by_their_codes() -> None:
    assert unescaped(quoted("\u200b")) == "“U+200B”"
    assert quoted("zero\u200bwidth") == "“zero\u200bwidth”"
    assert named_character("é") == "é (U+00E9)"
    assert named_character("\u200b") == "U+200B"


@pytest.mark.parametrize("typed", ["سلام", "שלום 12", "a \u202epython", "مَرْحَبًا (1)"])
def test_what_runs_leftwards_is_isolated_from_the_numbers_beside_it(typed: str) -> None:
    assert quoted(typed).startswith("“\u2068")
    assert quoted(typed).endswith("\u2069”")
    assert plain(typed).startswith("\u2068")
    assert quoted("python 12") == "“python 12”"


@given(st.lists(st.floats(0.02, 1), min_size=2, max_size=8))
@settings(deadline=None)
def test_shares_that_stand_together_add_up(parts: list[float]) -> None:
    shares = [part / sum(parts) for part in parts]
    whole = [round(100 * share) for share in adding_up(shares)]
    assert sum(whole) == 100 or min(shares) < 0.01 or max(shares) > 0.99
    assert all(abs(n - 100 * share) < 1 for n, share in zip(whole, shares, strict=True))


def test_names_in_a_row() -> None:
    assert listed_names(["a"]) == "a"
    assert listed_names(["a", "b", "c"]) == "a, b and c"


@pytest.mark.parametrize(
    ("value", "form", "said"),
    [(-0.004, ".2f", "0.00"), (-0.005001, ".2f", "−0.01"), (-0.0, ".4f", "0.0000"),
     (-1234, ",", "−1,234"), (0.1, "+.2f", "+0.10"), (-1e-4, ".4f", "−0.0001")],
)  # fmt: skip
def test_a_number_has_a_real_minus_sign_and_zero_none(value: float, form: str, said: str) -> None:
    assert number(value, form) == said


CODE = Path(__file__).parents[2] / "components/contextlens"


def test_decimals_that_visitors_read_are_written_by_one_function() -> None:
    """Python's own format has a hyphen for a minus sign; drawings in SVG need that."""
    offenders = [
        f"{path.relative_to(CODE)}:{text.lineno}"
        for folder in ("features", "figures", "ui")
        for path in (CODE / folder).rglob("*.py")
        for text in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(text, ast.JoinedStr) and '="' not in ast.unparse(text)
        for value in text.values
        if isinstance(value, ast.FormattedValue) and value.format_spec is not None
        if re.search(r"\.[2-4]f'$", ast.unparse(value.format_spec))
    ]
    assert not offenders
