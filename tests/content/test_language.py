"""The file of what visitors read: whole sentences, all of them said somewhere, gaps all filled."""

from __future__ import annotations

import os
import re
import shutil
import string
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from contextlens.content import language
from contextlens.content.glossary import explained, unmarked
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import escape
from contextlens.features.corpora import page as corpora
from contextlens.features.pairs.pair_file import MEANINGS, WAYS
from contextlens.features.sentences.controls import TESTS
from contextlens.features.sentences.vectors import POOLINGS
from contextlens.features.tokens.examples import TOKEN_EXAMPLES
from contextlens.features.why.controls import LOOK
from contextlens.proof.benchmarks import BENCHMARKS
from contextlens.ui.page.navigation import PAGES
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
def test_mypy_finds_keys_that_no_sentence_has(tmp_path: Path) -> None:
    """In f-strings too, with each combination of what their gaps may be; of `KEYS`, as marked."""
    package = tmp_path / "contextlens"  # without what the real one imports
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copytree(ROOT / "content", package / "content")
    (tmp_path / "keys.py").write_text(KEYS, encoding="utf-8")
    options = ["--cache-dir", str(tmp_path / "cache"), "--num-workers", "0"]
    result = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(tmp_path / "keys.py")],
        cwd=ROOT.parents[1],
        env={**os.environ, "MYPYPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"keys\.py:(\d+): error: (.*)  \[sentence-key\]", result.stdout)
    marked = [
        (str(i + 1), message)
        for i, line in enumerate(KEYS.splitlines())
        if (message := line.partition("  # ")[2])
    ]
    assert found == marked, result.stdout + result.stderr


KEYS = """
from enum import StrEnum
from typing import Literal

from contextlens.content.language import claim, say, table


class Fit(StrEnum):
    ABOVE = "above"
    BENEATH = "beneath"


def given(n: int, side: Literal["above", "below"], to: Literal["above", "left"], fit: Fit) -> None:
    say("ruler.above")
    say("ruler.left")  # english.toml has no sentence "ruler.left"
    say("ruler.fits")  # english.toml has no sentence "ruler.fits"
    table("ruler.fits")
    table("ruler.above")  # english.toml has no table "ruler.above"
    claim(f"ruler.{side}")
    claim(f"ruler.fits.{side}" if n else "ruler.left")  # english.toml has no sentence "ruler.left"
    claim(f"ruler.{to}")  # english.toml has no sentence "ruler.left"
    claim(f"ruler.{fit}")  # english.toml has no sentence "ruler.beneath"
    claim(f"{'ruler' if n else 'rule'}.above")  # english.toml has no sentence "rule.above"
    claim(f"ruler.{side!s}")  # A key, or a gap in it, may be any str


def named(n: int, text: str) -> None:
    case = "above" if n else "below"
    say(f"ruler.{case}")
    if n > 2:
        case = "within" if n > 3 else case
    key = f"ruler.{case}"
    say(key)
    for part in ("above", "left"):
        say(f"ruler.{part}")  # english.toml has no sentence "ruler.left"
    say(f"ruler.{('above', 'left')[n]}")  # english.toml has no sentence "ruler.left"
    places = {0: "within", 1: "above"}
    say(f"ruler.{ {0: 'within', 1: 'left'}[n]}")  # english.toml has no sentence "ruler.left"
    say(f"ruler.{text if text in ('above', 'below') else 'within'}")
    say(text)  # A key, or a gap in it, may be any str
    say(f"ruler.{text}")  # A key, or a gap in it, may be any str
    say(f"ruler.{places[n]}")  # A key, or a gap in it, may be any str
    end = "a"
    end += text
    say(f"ruler.{end}")  # A key, or a gap in it, may be any str
    other = text if n else "above"
    say(f"ruler.{other}")  # A key, or a gap in it, may be any str
"""


TABLES: dict[str, Iterable[str]] = {
    "corpora.roles": {role for roles in corpora._ROLES.values() for role in roles},
    "corpora.ways": corpora._ROLES,
    "embedding_layer.head": ("word", "position", "segment", "sum", "LayerNorm", "layer 0"),
    "frame.note": [page.name for page in PAGES],
    "page.question": [page.name for page in PAGES],
    "page.title": [page.name for page in PAGES],
    "pairs.kinds": ("score", "names"),
    "pairs.meanings": MEANINGS,
    "pairs.roles": {role for roles in WAYS.values() for role in roles},
    "pairs.ways": WAYS,
    "proof.benchmark": BENCHMARKS,
    "proof.check": BENCHMARKS,
    "sentences.label": TESTS,
    "sentences.pooling": POOLINGS,
    "sentences.subject": POOLINGS,
    "sentences.title": POOLINGS,
    "tokens.change": ("spaces", "dropped", "capitals", "accents", "other"),
    "tokens.example": [example.key for example in TOKEN_EXAMPLES],
    "why.limits": LOOK.options,
    "why.work": LOOK.options,
}
"""The names by which the code looks something up in a table, which mypy does not see."""


def test_a_table_has_all_names_that_the_code_looks_up() -> None:
    looked_up = {
        key
        for path in ROOT.rglob("*.py")
        for key in re.findall(
            r'\btable\("([a-z_.]+)"\)(?:\[[^"\]]|\.__getitem__)', path.read_text(encoding="utf-8")
        )
    }
    assert looked_up == TABLES.keys()
    missing = {key: set(names) - language.table(key).keys() for key, names in TABLES.items()}
    assert not any(missing.values()), missing


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
    for typed in ("attentıon", "TOKENİZER"):  # regular expressions take both for an i
        assert explained(typed) == typed
