"""The components of Start here: the sentences with their arcs and line, and the cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from contextlens.analysis.similarity import Item
from contextlens.core.schema import FloatArray
from contextlens.features.home.flows import Row, hover, movers, named
from contextlens.features.home.tug import Tug
from contextlens.figures.theme import color_of
from contextlens.ui.widgets.chips import badge_ink, direction_of, visible
from contextlens.ui.widgets.component import component

_DIGITS = 4


@dataclass(frozen=True, eq=False)
class Picture:
    """Everything that the picture of Start here shows, at all layers.

    Attributes:
        layers: the layers.
        layer: the shown one.
        rows: the words of each sentence.
        changes: for each row, (n_layers, n_words); None while they are measured.
        tug: the chosen words between two ends; None if there are none.
        tug_says: what is said of the line, and of its start.
        alike: instead of it, pairs of words and their cosines, (n_layers,).
        random: (n_layers,) the mean cosine of unrelated words, if it is known.
    """

    layers: Sequence[int]
    layer: int
    rows: Sequence[Row]
    changes: Sequence[FloatArray] | None
    tug: Tug | None
    alike: Sequence[tuple[Item, Item, FloatArray]]
    random: FloatArray | None

    @property
    def at(self) -> int:
        """The shown layer's place among the layers."""
        return list(self.layers).index(self.layer)

    def changes_at(self, row: int, at: int) -> FloatArray | None:
        """(n_words,) the changes of one row at the n-th layer; None while they are measured."""
        return None if self.changes is None else self.changes[row][at]


def story(picture: Picture, says: Mapping[str, str], *, alt: str, key: str) -> None:
    """Show the picture.

    Args:
        picture: what it shows.
        says: the texts "start", "line", "alike" and "unrelated" in it.
        alt: the picture in words.
        key: the component's own key.
    """
    data = {
        "layers": list(picture.layers),
        "layer": picture.layer,
        "alt": alt,
        "rows": [_row(picture, i) for i in range(len(picture.rows))],
        "tug": picture.tug and _tug(picture.tug, says),
        "alike": _alike(picture, says) if picture.tug is None and picture.alike else None,
    }
    component("contextlens.features.home", "story", data, key=key)


def _row(picture: Picture, index: int) -> dict[str, object]:
    row = picture.rows[index]
    changes = None if picture.changes is None else _numbers(picture.changes[index])
    color = color_of(row.color)
    return {
        "letter": row.label,
        "color": color,
        "ink": badge_ink(color),
        "dir": direction_of("".join(word.text for word in row.words)) or "ltr",
        "words": [
            {
                "text": named(word.text),
                "glued": word.is_glued,
                "chosen": word.is_chosen,
                "hover": hover(row, i, picture.changes_at(index, picture.at)),
            }
            for i, word in enumerate(row.words)
        ],
        "changes": changes,
        "says": [
            str(movers(row, picture.changes_at(index, at))) for at in range(len(picture.layers))
        ],
        "cut": list(row.is_cut),
    }


def _tug(tug: Tug, says: Mapping[str, str]) -> dict[str, object]:
    margins = [float(m) if np.isfinite(m) else None for m in tug.margins]
    return {
        "left": visible(tug.left),
        "right": visible(tug.right),
        "middle": tug.middle,
        "reach": tug.reach,
        "margins": margins,
        "uses": [
            {"row": i, "places": _numbers(places), "clear": clear.tolist(), "other": other}
            for i, (places, clear, other) in enumerate(
                zip(tug.places, tug.is_clear, tug.others, strict=True)
            )
        ],
        "start": says["start"] if tug.has_one_start else "",
        "says": says["line"],
    }


def _alike(picture: Picture, says: Mapping[str, str]) -> dict[str, object]:
    lines = [
        {
            "name": f"{first.label or named(first.word)}–{second.label or named(second.word)}",
            "color": color_of(second.color),
            "along": _numbers(along),
        }
        for first, second, along in picture.alike
    ]
    lowest = min(float(along.min()) for _, _, along in picture.alike)
    return {
        "title": says["alike"],
        "unrelated": says["unrelated"],
        "lines": lines,
        "random": None if picture.random is None else _numbers(picture.random),
        "low": min(0.0, lowest, *([] if picture.random is None else [float(picture.random.min())])),
    }


def _numbers(values: FloatArray) -> list[object]:
    return list(np.round(values.astype(np.float64), _DIGITS + 1).tolist())


# --- The cards


@dataclass(frozen=True)
class Card:
    """An example on its card: a question, or the model's answer.

    Attributes:
        key: the example's key; "" for the visitor's own word.
        title: its title.
        current: True if it is the example on the page.
        question: asks for a guess; "" once the answer is seen.
        options: the two answers to choose from.
        verdict: the model's result in a few words; "" before it is seen.
        sign: "right", "fooled" or "" for its colour.
        says: one or two sentences below the title.
    """

    key: str
    title: str
    current: bool = False
    question: str = ""
    options: tuple[str, ...] = ()
    verdict: str = ""
    sign: str = ""
    says: str = ""


def guess_cards(
    cards: Sequence[Card],
    title: str,
    show: str,
    *,
    key: str,
    on_pick: Callable[[str, int | None], None],
) -> None:
    """Show cards; call `on_pick(key, option)`, in a callback, when one is answered or opened.

    Args:
        cards: the cards.
        title: the line above them.
        show: the label of the link that shows the answer without a guess.
        key: the component's own key.
        on_pick: gets the card's key, and the guessed option or None.
    """
    known = {card.key: len(card.options) for card in cards if card.key}

    def receive(sent: object) -> None:
        pick = _checked(sent, known)
        if pick is not None:
            on_pick(*pick)

    data = {"title": title, "show": show, "cards": [asdict(card) for card in cards]}
    component("contextlens.features.home", "guesses", data, key=key, on_pick=receive)


def _checked(sent: object, known: Mapping[str, int]) -> tuple[str, int | None] | None:
    """Return the key and option that the browser reported; None if no card can send them."""
    if not isinstance(sent, Mapping):
        return None
    key, option = sent.get("key"), sent.get("option")
    if not isinstance(key, str) or key not in known:
        return None
    if option is None:
        return key, None
    return (key, option) if type(option) is int and 0 <= option < known[key] else None
