"""The file of what visitors read: whole sentences, all of them said somewhere, gaps all filled."""

from __future__ import annotations

import ast
import re
import string
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from contextlens.content import language
from contextlens.content.glossary import explained, unmarked
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape
from contextlens.ui.state.controls import Control

ROOT = Path(__file__).parents[2] / "components" / "contextlens"
ENGLISH = tomllib.loads((ROOT / "content/english.toml").read_text(encoding="utf-8"))


def sentences(entry: Any, key: str) -> Iterator[tuple[str, str]]:
    for name, value in entry.items():
        whole = f"{key}.{name}"
        yield from sentences(value, whole) if isinstance(value, dict) else [(whole, value)]


EVERY = [
    found
    for page, entries in ENGLISH.items()
    if page != "glossary"
    for found in sentences(entries, page)
]


def test_each_sentence_is_named_in_the_code() -> None:
    """Its whole key, or the part before its verdict, or before "one" and "several"."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    named = set(re.findall(r'"([a-z_]+(?:\.[^"{}.]+)*)\.?["{]', code))
    missing = [
        key
        for key, _ in EVERY
        if ".controls." not in key
        and not any(key.rsplit(".", n)[0] in named for n in range(3) if key.count(".") >= n)
    ]
    assert not missing


@pytest.mark.slow
def test_each_key_in_the_code_has_a_sentence() -> None:
    """A literal key is there; of one with gaps, one that has something in their place is."""
    keys = [*(key for key, _ in EVERY), "glossary"]
    known = "\n".join({key.rsplit(".", n)[0] for key in keys for n in range(key.count(".") + 1)})
    missing = [
        f"{path.name}:{call.lineno}"
        for path in (*ROOT.rglob("*.py"), *(ROOT.parents[1] / "pages").glob("*.py"))
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in {"say", "claim", "table"}
        and call.args
        and (pattern := key_pattern(call.args[0]))
        and not re.search(f"^{pattern}$", known, re.MULTILINE)
    ]
    assert not missing


def key_pattern(argument: ast.expr) -> str:
    """A regular expression for the keys that a call may mean; "" if it gets the key elsewhere."""
    if isinstance(argument, ast.Constant):
        return re.escape(str(argument.value))
    if isinstance(argument, ast.JoinedStr):
        parts = (
            re.escape(v.value) if isinstance(v, ast.Constant) else ".+" for v in argument.values
        )
        return "".join(parts)
    return ""


def test_a_gap_has_a_name_and_no_sentence_is_long() -> None:
    for key, text in EVERY:
        gaps = [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
        assert all(name.isidentifier() for name in gaps), key
        assert len(text.split()) <= 60, key
        assert max(len(s.split()) for s in re.split(r"(?<=[.?!:])\s", text)) <= 33, key
        assert text == text.strip(), key


def test_a_control_with_a_label_is_declared_and_all_its_options_are_there() -> None:
    declared = {
        (control.page, control.name): control
        for path in ROOT.rglob("controls.py")
        for control in vars(import_module(module_of(path))).values()
        if isinstance(control, Control)
    }
    for page, entries in ENGLISH.items():
        for name, words in entries.get("controls", {}).items() if page != "glossary" else ():
            control = declared[page, name]
            assert control.label == words["label"]
            assert words.get("options", {}).keys() <= getattr(control, "options", {}).keys()


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)


def test_numbers_are_said_as_people_read_them() -> None:
    made = Claim("senses.word_option.uses", {"n": 1234, "word": "bank"})
    assert str(made) == "bank · 1,234 uses"
    assert say("senses.word_option.uses", n=1, word="x") == "x · 1 use"
    below = claim("ruler.above", Measure="Similarity", cosine=0.5, low=-0.1, high=-0.001)
    assert str(below).endswith("get −0.10 to 0.00.")


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0, "0%"),
        (0.001, "under 1%"),
        (-0.001, "just below 0%"),
        (-0.3, "\N{MINUS SIGN}30%"),
        (0.999, "over 99%"),
        (1.0, "100%"),
    ],
)
def test_a_share_that_is_neither_none_nor_all_is_never_said_as_either(
    share: float, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "_english", lambda: {"a": {"share": "{share:%}"}})
    assert say("a.share", share=share) == said


def test_a_gap_without_its_number_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("pairs.claim.better", layer=3)
    with pytest.raises(KeyError):
        claim("pairs.claim.no such verdict").__str__()


@pytest.mark.parametrize(
    "typed", ["**5** * 3", "a_b_c `x`", "<b> & ~x~ $y$", "https://a.b -> c", ":material/x:"]
)
def test_unmarked_sentences_are_read_as_they_were_typed(typed: str) -> None:
    assert unmarked(f"Layer **3**: “{escape(typed)}”.") == f"Layer 3: “{typed}”."


def test_terms_are_explained_where_they_first_stand_and_nothing_typed_is_markup() -> None:
    shown = explained(r"**Layer 3** and layers: “a token \<b\>”, <i>x</i> `code`.")
    assert shown.count('class="term"') == 1
    assert shown.startswith('<strong><span class="term" tabindex="0" role="note" data-meaning="One')
    assert shown.endswith(
        "and layers: “a token &lt;b&gt;”, &lt;i&gt;x&lt;/i&gt; <code>code</code>."
    )
