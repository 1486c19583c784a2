"""Visitors' choices on pages: each choice is declared once, in its feature's `controls.py`.

Widgets, computations, addresses and tests all read the declaration, so that a default exists in one
place. A value in an address that a control does not allow counts as the default, or as the nearest
allowed number. No streamlit here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Generic, Self, TypeVar

from contextlens.content.examples import Example
from contextlens.content.language import say, table
from contextlens.ui.state.view import MAX_SENTENCES, Value, ViewState, from_example, letter

T = TypeVar("T", bound=Value)


@dataclass(frozen=True, kw_only=True)
class Control(Generic[T]):
    """One choice of one page.

    Attributes:
        page: the page that it belongs to.
        name: its name in a view and an address.
        default: the value while nothing is chosen; it is not written in an address.
        label: the label of its widget.
        help: one or two sentences, shown on hover; "" for none.
    """

    page: str
    name: str
    default: T
    label: str = ""
    help: str = ""

    @property
    def key(self) -> str:
        """The key of its widget."""
        return f"{self.page}_{self.name}"

    def of(self, view: ViewState) -> T:
        """Return a view's choice, replaced if it is not allowed; the default if there is none."""
        return self.allowed(view.control(self.page, self.name, self.default))  # type: ignore[arg-type]

    def asked(self, view: ViewState) -> T | None:
        """Return a view's raw value, allowed or not; None if it is not of the control's type."""
        value = view.controls.get(self.page, {}).get(self.name)
        return value if type(value) is type(self.default) else None

    def allowed(self, value: T) -> T:
        """Return the value, or its replacement if it is not allowed."""
        return value

    def put(self, view: ViewState, value: T) -> ViewState:
        """Return the same view with this value chosen."""
        return view.with_control(self.page, self.name, value, self.default)


@dataclass(frozen=True, kw_only=True)
class Switch(Control[bool]):
    """On or off."""

    default: bool = False


@dataclass(frozen=True, kw_only=True)
class Text(Control[str]):
    """A short typed text."""

    default: str = ""
    placeholder: str = ""


@dataclass(frozen=True, kw_only=True)
class Number(Control[int]):
    """A whole number from `low` to `high`, inclusive."""

    low: int
    high: int

    def allowed(self, value: int) -> int:
        """Return the number, or the bound that it exceeds."""
        return min(max(value, self.low), self.high)

    def between(self, low: int, high: int, *, default: int | None = None) -> Self:
        """Return the same control with bounds from a model or a text."""
        wanted_default = self.default if default is None else default
        return replace(self, low=low, high=high, default=min(max(wanted_default, low), high))


@dataclass(frozen=True, kw_only=True)
class Choice(Control[str]):
    """One of a few values, each with a title."""

    options: Mapping[str, str] = field(default_factory=dict)

    def allowed(self, value: str) -> str:
        """Return the value if it is an option, else the default."""
        return value if value in self.options else self.default

    def among(
        self, options: Mapping[str, str] | Iterable[str], *, default: str | None = None
    ) -> Self:
        """Return the same control with options from a model or a text.

        Without a `default`, the declared one counts if it is an option, else the first.
        """
        titles = _titles(options, self.options)
        first = self.default if self.default in titles else next(iter(titles), "")
        return replace(self, options=titles, default=first if default is None else default)


def switch(page: str, name: str) -> Switch:
    """Return a control that is off by default."""
    return Switch(page=page, name=name, **words_of(page, name))


def text(page: str, name: str, *, default: str = "") -> Text:
    """Return a control for typed text."""
    return Text(page=page, name=name, default=default, **words_of(page, name))


def number(page: str, name: str, *, between: tuple[int, int], default: int) -> Number:
    """Return a control for a whole number."""
    low, high = between
    return Number(page=page, name=name, low=low, high=high, default=default, **words_of(page, name))


def choice(
    page: str,
    name: str,
    options: Mapping[str, str] | Iterable[str],
    *,
    default: str | None = None,
) -> Choice:
    """Return a control for one of a few values; the first is the default unless another is named.

    The titles of options come from `english.toml`, else from `options`, else they are the values.
    """
    words = words_of(page, name)
    option_titles = words.pop("options", {})
    titles = {key: option_titles.get(key, title) for key, title in _titles(options).items()}
    first = next(iter(titles), "") if default is None else default
    return Choice(page=page, name=name, options=MappingProxyType(titles), default=first, **words)


def sentence_choice(page: str, name: str = "sentence") -> Choice:
    """Return the control that chooses the sentence of the view that a page shows."""
    letters = {letter(i): letter(i) for i in range(MAX_SENTENCES)}
    words = {"label": say("page.sentence"), **words_of(page, name)}
    return Choice(page=page, name=name, options=letters, default=letter(0), **words)


def sentence_index(view: ViewState, control: Choice) -> int:
    """Return the index of a page's sentence; the first if the chosen one is gone."""
    letters = [letter(i) for i in range(len(view.sentences))]
    return letters.index(control.among(letters).of(view)) if letters else 0


def words_of(page: str, name: str) -> dict[str, Any]:
    """Return the label, help, placeholder and options of a control in `english.toml`.

    A control that is never shown has none.

    Raises:
        KeyError: the page does not exist.
    """
    page_words = table(page)  # type: ignore[sentence-key]  # any page
    return dict(page_words.get("controls", {}).get(name, {}))


def _titles(
    options: Mapping[str, str] | Iterable[str], titles: Mapping[str, str] = MappingProxyType({})
) -> Mapping[str, str]:
    if isinstance(options, Mapping):
        return MappingProxyType(dict(options))
    return MappingProxyType({option: titles.get(option, option) for option in options})


# --- Controls of several pages at once

TEXTS = "texts"
"""In place of a page: what the text pages share, see `ui.corpora.controls`."""
TEXT_PAGES = ("map", "senses", "search", "pairs", "probe", "corpora")
"""The pages about one collection of texts."""


def of_example(example: Example, view: ViewState) -> ViewState:
    """Return the view that an example opens, with the model and the texts of the current one."""
    kept = {TEXTS: view.controls[TEXTS]} if TEXTS in view.controls else {}
    return replace(from_example(example, view.model), controls=kept)


PICKED_TOKENS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "tokens": ("token",),
        "embedding_layer": ("token", "near"),
        "layers": ("token",),
        "attention": ("token", "other"),
    }
)
"""The choices of a page that are positions in the sentence that it shows."""


def without_left_tokens(view: ViewState, before: ViewState) -> ViewState:
    """Return a view without the tokens picked in a sentence that has changed or is not shown.

    Args:
        view: the view with its new sentences, or with another one shown.
        before: the view that it replaces.
    """
    for page, names in PICKED_TOKENS.items():
        control = sentence_choice(page)
        new, old = (each.sentences[sentence_index(each, control)] for each in (view, before))
        for name in names if new != old else ():
            view = view.with_control(page, name, "", "")
    return view


FRAME = "frame"
PRESENT = switch(FRAME, "present")
"""Present mode: large type, and the picture and its claim alone."""
