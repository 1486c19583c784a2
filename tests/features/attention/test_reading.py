"""What Attention says, against its numbers: any weights, any tokens, then whole sentences."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from components.content.language import Claim
from components.core import EncoderService
from components.features.attention.controls import SCOPES
from components.features.attention.measures import Arrangement, Grid, GridItem, HeadSelection
from components.features.attention.reading import (
    attention_notes,
    attention_reading,
    attention_sure,
    attention_title,
)
from components.ui.state.view import Sentence
from tests.features.attention.shown import LONG, PAIR, seen
from tests.support.claims import read, unreached
from tests.support.texts import LABELS

N_MADE = 2000
HABITS = ("previous", "next", "first", "separators", "word")


# Any weights


def weights_of(random: np.random.Generator, n_rows: int, n_columns: int) -> np.ndarray:
    """Spread, tied, all equal, nearly none, all on one."""
    values = random.uniform(0, 1, (n_rows, n_columns))
    values = [
        values,
        values.round(1),
        0.25 + random.uniform(-0.004, 0.004, values.shape),
        values * 0.02,
        np.full(values.shape, random.choice([0.0, 0.125, 1.0])),
        np.eye(n_rows, n_columns) * 0.998 + 0.0004,
    ][random.integers(6)]
    return values.astype(np.float32)


def items_of(chance: random.Random, n: int, first: int) -> tuple[GridItem, ...]:
    """Tokens, or words of two; the first is no padding, for every text has a real token."""
    kinds = ["token", *(chance.choice(("token", "continuation", "padding")) for _ in range(n - 1))]
    size = chance.choice((1, 1, 2))
    return tuple(
        GridItem(
            chance.choice(LABELS[: chance.choice((2, 30))]), tuple(range(at, at + size)), kind, 0
        )  # type: ignore[arg-type]
        for at, kind in zip(range(first, first + size * n, size), kinds, strict=True)
    )


def odd_picture(seed: int) -> tuple[HeadSelection, Grid, tuple[str, int]]:
    chance, numbers = random.Random(seed), np.random.default_rng(seed)
    rows = items_of(chance, chance.choice((1, 2, 3, 5, 8)), 2)
    columns = rows if chance.random() < 0.7 else items_of(chance, chance.choice((1, 2, 4)), 50)
    hidden = chance.choice(((), (0, 1)))
    grid = Grid(
        rows,
        columns,
        weights_of(numbers, len(rows), len(columns)),
        hidden,
        renormalised=bool(hidden) and chance.random() < 0.5,
    )
    selection = HeadSelection(
        scope=chance.choice(list(SCOPES.values())),
        layer=chance.choice((1, 2, 12)),
        head=chance.randrange(12),
        shares=dict(zip(HABITS, weights_of(numbers, 1, 5)[0].tolist(), strict=True)),
        even=dict.fromkeys(HABITS, chance.choice((0.5, 0.14, 1 / 512))),
        names={"first": "[CLS]", "separators": chance.choice(("[SEP]", "</s>"))},
        trained=chance.random() < 0.8,
    )
    side = chance.choice(("from", "to"))
    return selection, grid, (side, chance.randrange(len(rows if side == "from" else columns)))


def assert_largest(claim: Claim, values: np.ndarray, items: tuple[GridItem, ...]) -> None:
    """The verdict, the number and the name of the largest of some weights."""
    verdict, values = claim.key.rpartition(".")[2], values.astype(float)
    top = values.max()
    assert claim.numbers["share"] == pytest.approx(top)
    if top <= 0.005:
        assert verdict == "faint"
        return
    assert top > 0.0049
    near = np.flatnonzero(np.rint(100 * values) == np.rint(100 * top))
    if np.rint(100 * top) == 100:  # "100%" and "over 99%" are two
        near = np.flatnonzero((np.rint(100 * values) == 100) & ((values < 1) == (top < 1)))
    if claim.key.startswith("attention.title"):
        assert (verdict == "alike") == (1 < len(near) == len(values))
    else:
        several = "alike" if len(near) == len(values) else "several"
        assert verdict == ("one" if len(near) == 1 else several)
        names = claim.numbers["names"]
        assert names.startswith("“")
        assert (f"{len(near) - 1} others" in names) == (len(near) > 2)
        same = [item for item in items if item.label == items[near[0]].label]
        assert f"position {items[near[0]].positions[0]}" in names or len(same) == 1


def assert_head(claim: Claim, selection: HeadSelection) -> None:
    shares, even = selection.shares, selection.even
    verdict, share = claim.key.rpartition(".")[2], claim.numbers["share"]
    clear = [h for h in HABITS if shares[h] >= 0.3 and shares[h] >= 1.5 * even[h]]
    assert (verdict == "unclear") == (not clear)
    assert share == max(shares[habit] for habit in clear or HABITS)
    if clear:
        assert shares[verdict] == share
        assert claim.numbers["even"] == even[verdict]
    assert (claim.numbers["layer"], claim.numbers["head"]) == (selection.layer, selection.head)


def even_share(selection: HeadSelection, grid: Grid, item: GridItem) -> float:
    kept = {at for items in (grid.rows, grid.columns) for item in items for at in item.positions}
    return len(item.positions) * (1 / len(kept) if grid.renormalised else selection.even["first"])


@pytest.mark.slow
def test_every_sentence_is_true_of_any_weights() -> None:
    said = set()
    for seed in range(N_MADE):
        selection, grid, (side, index) = odd_picture(seed)
        title = attention_title(selection, grid)
        main, picked, caution = attention_reading(selection, grid, (side, index))
        if selection.scope == "head":
            assert main.key.startswith("attention.head.")
            assert_head(title, selection)
            assert_head(main, selection)
        else:
            real = [i for i, item in enumerate(grid.rows) if item.kind != "padding"]
            means = grid.weights[real].mean(axis=0)
            expected = "rollout" if selection.scope == "rollout" else "mean"
            assert main.key.startswith(f"attention.{expected}.")
            assert_largest(title, means, grid.columns)
            assert_largest(main, means, grid.columns)
            best = grid.columns[int(means.argmax())]
            if main.key == "attention.mean.one":
                assert main.numbers["even"] == pytest.approx(even_share(selection, grid, best))
        own = grid.weights[index] if side == "from" else grid.weights[:, index]
        rollout = "rollout_" if selection.scope == "rollout" else ""
        assert picked.key.startswith(f"attention.{rollout}{side}.")
        assert_largest(picked, own, grid.columns if side == "from" else grid.rows)
        assert caution.key.endswith(".trained" if selection.trained else ".untrained")
        said |= read([title, main, picked, caution, *attention_sure(selection)])
    for seed in range(N_MADE):
        said |= read(noted(seed))
    assert not unreached("attention", said)


# Any text


def noted(seed: int) -> list[Claim]:
    """The notes on a text of any kind, checked one by one."""
    chance = random.Random(seed)
    n, n_padded = chance.choice((2, 3, 5)), chance.choice((0, 0, 1, 3))
    pair, special = (
        chance.choice((None, None, "two")),
        chance.choice(("show", "hide", "renormalise")),
    )
    own = [chance.choice(("token", "unknown", "continuation", "special")) for _ in range(n)]
    kinds = [*own, *["padding"] * n_padded]
    mask = np.array([kind != "padding" for kind in kinds], int)
    outside = [i for i, kind in enumerate(kinds) if kind in ("special", "padding")]
    hidden = tuple(outside) if special != "show" and len(outside) < len(kinds) else ()
    weights = np.full((len(kinds), len(kinds)), chance.choice((0.0, 0.1))) * 1.0
    encoding = SimpleNamespace(
        tokens=[{"special": "[CLS]", "padding": "[PAD]"}.get(kind, "a") for kind in kinds],
        text_ids=np.array([-1 if kind in ("special", "padding") else 0 for kind in kinds]),
        offsets=np.zeros((len(kinds), 2), int),
        attention_mask=mask,
        n_tokens=len(kinds),
        n_truncated=chance.choice((0, 1, 30)),
        text="a",
        pair=pair,
    )
    asked = len(kinds) if n_padded else chance.choice((0, n, 1))
    attention: Any = SimpleNamespace(
        encoding=encoding,
        kinds=kinds,
        weights=weights,
        sentence=Sentence("a", pair),
        card=SimpleNamespace(has_segments=chance.random() < 0.5),
        arrangement=Arrangement(special, direction=chance.choice(("all", "forth"))),  # type: ignore[arg-type]
        grid=SimpleNamespace(
            hidden=hidden,
            renormalised=bool(hidden) and special == "renormalise",
            is_square=chance.random() < 0.5,
        ),
        pad_to=len(kinds) if n_padded else None,
        requested_pad=asked,
    )
    notes = attention_notes(attention)
    by_key = {note.key.removeprefix("attention.note."): note.numbers for note in notes}
    leaks = bool(weights[mask == 1][:, mask == 0].any())
    directed = pair is not None and attention.arrangement.direction == "forth"
    expected = {
        "nothing_else": special != "show" and not hidden,
        "hidden": bool(hidden) and special == "hide",
        "divided": bool(hidden) and special == "renormalise",
        "only_special": set(own) == {"special"},
        "no_segments": pair is not None and not directed and not attention.card.has_segments,
        "one_way": directed and not attention.grid.is_square,
        "all_ways": directed and attention.grid.is_square,
        "long_enough": not n_padded and asked == 1,
        "padding": bool(n_padded) and not leaks,
        "padding_gets": bool(n_padded) and leaks,
        "unknown": "unknown" in own,
        "cut": encoding.n_truncated > 0,
    }
    assert set(by_key) == {key for key, holds in expected.items() if holds}
    counts = {
        "padding": n_padded,
        "padding_gets": n_padded,
        "unknown": own.count("unknown"),
        "cut": encoding.n_truncated,
    }
    assert all(by_key[key]["n"] == counts[key] for key in by_key if key in counts)
    return notes


# As they are read


def said(service: EncoderService, *sentences: Sentence, **how: Any) -> str:
    """Title, reading and notes of what the page shows, without Markdown's signs."""
    shown = seen(service, *sentences, **how)
    claims = attention_reading(shown.selection, shown.grid, shown.picked)
    claims = [attention_title(shown.selection, shown.grid), *claims, *attention_notes(shown)]
    return " ".join(map(str, claims)).replace("\\", "").replace("**", "")


def test_the_opening_page_reads(service: EncoderService) -> None:
    assert said(service) == (
        "Layer 1, head 2: previous token, over 99% In layer 1, head 2, over 99% of the "
        "attention goes to the previous token (an even spread would give 14%). Among the tokens "
        "shown, “python” attends most to “pet” (over 99%). Attention shows where a head takes its "
        "input from; it does not explain what the model concludes."
    )


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"show": "All"}, "On average, tokens in the picture attend most to “[CLS]”: 59%"),
        ({"show": "Rollout", "layer": 3}, "Layers 1 to 3: "),
        ({"special": "Hide"}, "Hidden: [CLS], [SEP]. The rows leave out"),
        ({"pad": 10}, "3 positions are padding: no token of the text attends to them"),
        ({"pad": 10, "side": "to", "token": 9}, "No token in the picture gives “[PAD]” at pos"),
        ({"pad": 5}, "The text already has 7 tokens, so it is not padded to 5."),
    ],
)
def test_what_is_chosen_is_said(
    service: EncoderService, how: dict[str, Any], sentence: str
) -> None:
    assert sentence in said(service, **how)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (Sentence(""), "The model sees only special tokens here: [CLS], [SEP]."),
        (Sentence("🦄"), "1 token is unknown to the model: “🦄”."),
        (Sentence("🦄 and 🦫", "🦄"), "3 tokens are unknown to the model, for example “🦄”."),
        (Sentence("my [MASK]"), "Among the tokens shown, “my” attends most to"),
        (Sentence(LONG), "The input is too long for this model: "),
    ],
)
def test_any_text_is_spoken_of(service: EncoderService, text: Sentence, sentence: str) -> None:
    assert sentence in said(service, text)


def test_two_unknown_tokens_are_told_apart_by_their_positions(service: EncoderService) -> None:
    text = said(service, Sentence("🦄 and 🦫"), show="All", special="Hide", token=1)
    assert "“[UNK]” at position 1 attends" in text


def test_roberta_s_special_tokens_are_its_own(tiny_service: EncoderService) -> None:
    model = "folder:roberta"
    text = said(tiny_service, PAIR, model=model, special="Hide")
    assert "Hidden: <s>, </s>." in text
    assert "no segments: only special tokens separate the two texts" in text
    assert "[CLS]" not in said(tiny_service, Sentence(""), model=model, sort="first")
