"""What is said of the model's parts, switched off and swapped in, checked against the numbers."""

from __future__ import annotations

import numpy as np

from components.features.why.compute.swap_in import SwappedIn
from components.features.why.compute.switch_off import SwitchedOff
from components.features.why.measures.effects import NOISE
from components.features.why.reading.titles import reading_of, title_of
from tests.features.why.reading.patterns import MANY, SPAN, WHO, close, largest_at, size
from tests.support.true_words import bare, is_two, read_back

__all__ = ["check_swapped_in", "check_switched_off"]

# Switch off


def check_switched_off(shown: SwitchedOff) -> None:
    sizes = np.abs(shown.heads)

    def holds(
        head: str, layer: str, held: str, cosine: str, without: str, same: str | None
    ) -> None:
        change = shown.heads[shown.layers.index(int(layer)), int(head)]
        assert abs(change) == sizes.max() >= NOISE
        assert change < 0
        assert is_two(held, -change)
        assert is_two(cosine, shown.cosine)
        assert is_two(without, shown.cosine + change)
        agrees(int(layer), int(head), same)

    def keeps(head: str, layer: str, held: str, without: str, same: str | None) -> None:
        change = shown.heads[shown.layers.index(int(layer)), int(head)]
        assert change == sizes.max() >= NOISE
        assert is_two(held, change)
        assert is_two(without, shown.cosine + change)
        agrees(int(layer), int(head), same)

    def agrees(layer: int, head: int, same: str | None) -> None:
        own = shown.each[:, layer - 1, head]
        alike = int((np.sign(own) == np.sign(own.mean())).sum())
        assert (same is None) == (len(own) == 1)
        if same is not None:
            assert int(same) == alike

    def several_heads(head: str, layer: str, more: str, span: str) -> None:
        near = shown.heads[sizes.max() - sizes <= NOISE]
        assert len(near) > 1
        assert sizes[shown.layers.index(int(layer)), int(head)] == sizes.max()
        close(span, near.min(), near.max())

    def no_head() -> None:
        assert sizes.max() < NOISE

    def many(n: str, of: str) -> None:
        assert (int(n), int(of)) == ((sizes >= NOISE).sum(), sizes.size)

    def part(kind: str, layer: str, more: str | None, span: str) -> None:
        own = {"attention": shown.attention, "feed-forward": shown.feed_forward}
        both = np.concatenate(list(own.values()))
        top = np.abs(both).max()
        assert abs(own[kind][shown.layers.index(int(layer))]) == top
        near = both[top - np.abs(both) <= NOISE]
        assert (len(near) > 1) == bool(more)
        close(span, near.min(), near.max())

    def no_part() -> None:
        assert max(np.abs(shown.attention).max(), np.abs(shown.feed_forward).max()) < NOISE

    def layer_0() -> None:
        assert shown.score.layer == 0

    what = r"the (?:mean )?cosine"
    alike = r"(?:, and it goes the same way in (?:all )?(?P<same>\d+)(?: of the \d+)? pairs)?"
    read_back(
        bare(" ".join(reading_of(shown))),
        {
            rf"Head (?P<head>\d+) of layer (?P<layer>\d+) alone holds (?P<held>\S+) of {what}, "
            rf"(?P<cosine>\S+): without it {what} is (?P<without>-?\d+\.\d\d){alike}\.": holds,
            r"Head (?P<head>\d+) of layer (?P<layer>\d+) keeps them apart by (?P<held>\S+): "
            rf"without it {what} is (?P<without>-?\d+\.\d\d){alike}\.": keeps,
            rf"Head (?P<head>\d+) of layer (?P<layer>\d+)(?P<more> and .*?) move {what} most "
            rf"\((?P<span>{SPAN})\)\.": several_heads,
            rf"No head alone moves {what} by 0\.005 or more\.": no_head,
            r"(?P<n>\d+) of (?P<of>\d+) heads moves? it by 0\.005 or more, each alone\.": many,
            r"Of whole parts, the (?P<kind>attention|feed-forward) of layer "
            rf"(?P<layer>\d+)(?P<more> and .*?)? moves? it most \((?P<span>{SPAN})\)\.": part,
            r"No layer's attention or feed-forward moves it by 0\.005 or more\.": no_part,
            r"At layer 0 no layer has run .*? Choose a higher one\.": layer_0,
        },
    )
    check_switched_off_title(shown)


def check_switched_off_title(shown: SwitchedOff) -> None:
    title = title_of(shown)
    if not shown.layers:
        assert title == "Nothing has run at layer 0"
        return
    sizes = np.abs(shown.heads).ravel()
    if sizes.max() < NOISE:
        assert title == "No head alone moves them"
        return
    near = largest_at(sizes, NOISE)
    if len(near) > 1:
        assert title == f"{len(near)} heads move them about equally"
        return
    row, head = divmod(near[0], shown.heads.shape[1])
    does = "holds them together" if shown.heads[row, head] < 0 else "keeps them apart"
    assert title == f"Head {head} of layer {row + 1} {does} most"


# Swap in


def check_swapped_in(shown: SwappedIn) -> None:
    if shown.problem:
        assert reading_of(shown) == [shown.problem]
        return
    own, ids = shown.fractions, (shown.receiver.encoding.token_ids, shown.donor.encoding.token_ids)
    same = [k for k, (i, j) in enumerate(shown.alignment.pairs) if ids[0][i] == ids[1][j]]

    def first(names: str, span: str, top: str | None) -> None:
        near = [k for k in range(own.shape[1]) if own[0].max() - own[0, k] <= 0.01]
        assert own[0].max() >= 0.05
        assert size(names) == len(near)
        close(span, min(own[0, near]), max(own[0, near]))
        if top is not None:
            close(top, min(own[-1, near]), max(own[-1, near]))

    def none() -> None:
        assert own[0].max() < 0.05

    def carries(names: str, here: str, layer: str, below: str) -> None:
        column = next(k for k in same if own[:, k].max() == own[:, same].max())
        assert is_two(here, own[int(layer), column])
        assert own[int(layer), column] == own[:, same].max()
        assert is_two(below, own[0, column])

    def equal(n: str, equal: str) -> None:
        assert shown.alignment.same_length
        assert (int(n), int(equal)) == (own.shape[1], len(same))

    def partly(n: str, ours: str, theirs: str, equal: str) -> None:
        lengths = [len(i) for i in ids]
        assert [int(ours), int(theirs)] == lengths
        assert (int(n), int(equal)) == (own.shape[1], len(same))

    read_back(
        bare(" ".join(reading_of(shown))),
        {
            rf"Swapped in at layer 0, (?P<names>{MANY}) brings? most: (?P<span>\S+(?: to \S+)?) "
            r"of the way from \w to \w(?:; at layer \d+, (?P<top>\S+(?: to \S+)?\d))?\.": first,
            r"At layer 0 no token alone brings 0\.05 of the way from \w to \w or more\.": none,
            rf"Of the tokens that are the same in both, (?P<names>{WHO}) comes to carry most: "
            r"(?P<here>\S+) at layer (?P<layer>\d+), (?P<below>\S+) at layer 0\.": carries,
            r"Both have (?P<n>\d+) tokens, and each stands for the one at its place; "
            r"(?P<equal>\d+) of these pairs are the same token\.": equal,
            r"(?P<n>\d+) of \w's (?P<ours>\d+) tokens stand for one of \w's (?P<theirs>\d+); "
            r"(?P<equal>\d+) of these pairs are the same token, and the others are not "
            r"swapped\.": partly,
        },
    )
    check_swapped_in_title(shown)


def check_swapped_in_title(shown: SwappedIn) -> None:
    title, bottom = title_of(shown), shown.fractions[0]
    if bottom.max() < 0.05:
        assert title == "No token alone makes the difference"
        return
    near = largest_at(bottom, 0.01)
    if len(near) > 1:
        assert title == f"{len(near)} tokens bring about as much of the difference"
        return
    i, j = shown.alignment.pairs[near[0]]
    ours, theirs = shown.receiver.labels[i], shown.donor.labels[j]
    own = f"“{ours}”" if ours == theirs else f"“{theirs}” in place of “{ours}”"
    assert title == f"{own} brings the most"
