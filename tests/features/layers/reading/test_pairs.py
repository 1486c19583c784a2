"""Every sentence on nearest tokens and on pairs, read back and checked against the cosines."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import numpy as np
import pytest

from components.core import EncoderService
from components.features.layers.compute.tokens import nearest_tokens, pairs_of
from components.features.layers.measures.tokens import nearest
from components.features.layers.reading.pairs import nearest_reading, pairs_reading, pairs_title
from tests.features.layers.shown import ODD_TEXTS, of, shown
from tests.support.leading import NAME, SPAN, Numbers, group, odd_values, titled
from tests.support.leading import two as written
from tests.support.true_words import bare, odd_labels, read_back

N_MADE = 2000
N = r"-?\d+\.\d\d"
TIE = 1e-4


# The nearest tokens


def assert_nearest(
    picked: int, names: Sequence[tuple[str, str]], cosines: np.ndarray, candidates: Sequence[int],
    said: str,
) -> None:  # fmt: skip
    """The sentence on nearest tokens is true of (n_layers, n_all) cosines to the picked one."""
    text = bare(said)
    letters = {
        letter: [i for i, name in enumerate(names) if name[1] == letter] for _, letter in names
    }

    def index(name: str, letter: str) -> int:
        where = letters[letter]
        return where[group(name, [names[i][0] for i in where])[0]]

    own = rf"(?P<own>{NAME})"
    some = rf"{NAME} in [A-H](?:(?: and {NAME} in [A-H])| and \d+ others)?"
    nobody = re.fullmatch(rf"There is no other token of a text to compare {own} with\. .*", text)
    if nobody:
        assert not len(candidates)
        assert index(nobody["own"], names[picked][1]) == picked
        return
    near = [
        {i for i in candidates if row[i] >= max(row[list(candidates)]) - TIE} for row in cosines
    ]

    def assert_all(who: str, there: set[int]) -> None:
        listed = [index(*found) for found in re.findall(rf"({NAME}) in ([A-H])", who)]
        assert set(listed) <= there
        more = re.search(r"and (\d+) others", who)
        assert len(there) == (int(more[1]) + 1 if more else len(listed))

    start = rf"(?P<first>{N}) at layer 0, (?:but (?P<then>{some}) with )?"
    end = rf"(?P<last>{N}) at layer (?P<n>\d+)"
    tail = rf"{start}{end}(?: \(random pairs of words there: {N}\))?\."
    one = re.fullmatch(
        rf"(?P<who>{some}) (?:is|are both|are all) nearest to {own} (?P<where>.*?): {tail}", text
    )
    other = re.fullmatch(rf"Nearest to {own} (?:is|are) (?P<who>{some}) with {tail}", text)
    found = one or other
    assert found, text
    assert index(found["own"], names[picked][1]) == picked
    assert int(found["n"]) == len(cosines) - 1
    highest = [written(max(row[list(candidates)])) for row in cosines]
    assert (found["first"], found["last"]) == (highest[0], highest[-1])
    assert_all(found["who"], near[0])
    if other:
        assert_all(other["then"], near[-1])
        assert near[0] != near[-1]
        return
    assert near[0] == near[-1]
    between = near[1:-1]
    expected = {
        "at every layer": all(there == near[0] for there in between),
        "at every layer, though others are as near at some": all(near[0] <= t for t in between)
        and any(near[0] != t for t in between),
        "at both ends, but at no layer between": bool(between)
        and not any(near[0] & there for there in between),
        "at both ends, but not at every layer between": any(near[0] - there for there in between),
    }
    assert expected[one["where"]], text


def odd_sentences(
    chance: random.Random,
) -> tuple[list[np.ndarray], list[tuple[str, str]], np.ndarray]:
    """Hidden states, names and own tokens of some sentences: some equal, some of no own token."""
    numbers = np.random.default_rng(chance.randrange(2**32))
    n_layers, texts, names, own = chance.choice((2, 3, 5)), [], [], []
    for i in range(chance.choice((1, 1, 2, 3, 8))):
        if texts and chance.random() < 0.4:  # the same sentence again, in another batch
            texts.append(texts[0] * np.float32(1 + 1e-6))
            labels, mine = [n for n, letter in names if letter == "A"], own[0]
        else:
            labels = odd_labels(chance, chance.choice((1, 2, 3, 6)))
            drawn = numbers.choice([-1.0, 0.0, 1.0, 2.0], size=(n_layers, len(labels), 3))
            noise = numbers.normal(size=drawn.shape) * chance.choice((0, 1e-7, 0.3))
            texts.append((drawn + noise).astype(np.float32))
            mine = numbers.random(len(labels)) < chance.choice((0, 0.5, 1))
        names += [(label, "ABCDEFGH"[i]) for label in labels]
        own.append(mine)
    return texts, names, np.concatenate(own)


def cosines_to(picked: int, texts: Sequence[np.ndarray]) -> np.ndarray:
    hidden = np.concatenate(texts, axis=1).astype(float)
    lengths = np.linalg.norm(hidden, axis=-1, keepdims=True)
    units = hidden / np.where(lengths > 0, lengths, 1)
    return np.clip(np.einsum("lnd,ld->ln", units, units[:, picked]), -1, 1)


def is_on_the_edge(cosines: np.ndarray, candidates: Sequence[int]) -> bool:
    """Whether rounding decides what is tied, or what is written."""
    if not len(candidates):
        return False
    rows = cosines[:, list(candidates)]
    gaps = rows.max(axis=1, keepdims=True) - rows
    ends = 100 * rows.max(axis=1)
    return bool((abs(gaps - TIE) < 1e-5).any() or (abs(ends % 1 - 0.5) < 1e-3).any())


@pytest.mark.slow
def test_every_sentence_on_nearest_tokens_is_true() -> None:
    chance, edges = random.Random(2), 0
    for _ in range(N_MADE):
        texts, names, own = odd_sentences(chance)
        picked = chance.randrange(texts[0].shape[1])
        candidates = [i for i in np.flatnonzero(own).tolist() if i != picked]
        cosines = cosines_to(picked, texts)
        if is_on_the_edge(cosines, candidates):
            edges += 1
            continue
        found = nearest(texts[0][:, picked], texts, np.array(candidates, int), 2)
        layers = range(len(cosines))
        baseline = chance.choice((None, np.linspace(0, 0.5, len(cosines))))
        said = nearest_reading(picked, names, found, layers, baseline)
        assert len(said) == 1
        assert_nearest(picked, names, cosines, candidates, said[0])
    assert edges < N_MADE / 10


# Pairs of tokens


def assert_pairs(matrix: np.ndarray, labels: Sequence[str], own: np.ndarray, said: str) -> None:
    places = np.flatnonzero(own).tolist()
    cosines = {(i, j): float(matrix[i, j]) for i in places for j in places if i < j}
    both = rf"{NAME} and {NAME}(?: and one other pair| and \d+ other pairs)?"
    mean = rf"all pairs average (?P<mean>{N})(?:; random pairs of words average {N})?"

    def lead(names: str, span: str, sign: int) -> None:
        found = re.match(rf"({NAME}) and ({NAME})", names)
        pair = tuple(group(found[k], labels)[0] for k in (1, 2))
        more = re.search(r"and (\d+) other pairs$", names)
        size = 2 if names.endswith("one other pair") else int(more[1]) + 1 if more else 1
        Numbers(list(cosines.values())).assert_leads(list(cosines).index(pair), size, span, sign)

    def assert_mean(mean: str) -> None:
        assert abs(float(mean) - np.mean(list(cosines.values()))) < 0.00501

    def few() -> None:
        assert len(places) < 2

    def one(names: str, cosine: str) -> None:
        ((pair, value),) = cosines.items()
        found = re.match(rf"({NAME}) and ({NAME})", names)
        assert tuple(group(found[k], labels)[0] for k in (1, 2)) == pair
        assert cosine == written(value)

    def level(span: str, mean: str) -> None:
        Numbers(list(cosines.values())).assert_alike(span)
        assert_mean(mean)

    def ends(most: str, high: str, least: str, low: str, mean: str) -> None:
        assert not Numbers(list(cosines.values())).are_alike
        lead(most, high, 1)
        lead(least, low, -1)
        assert_mean(mean)

    read_back(
        bare(said),
        {
            r"A pair needs two tokens of the text, and there are not two\.": few,
            rf"At layer 2, (?P<names>{both}) have a cosine of (?P<cosine>{N})"
            rf"(?:; random pairs of words average {N})?\.": one,
            rf"At layer 2, all pairs of the text's tokens are about alike \((?P<span>{SPAN})\); "
            rf"{mean}\.": level,
            rf"At layer 2, (?P<most>{both}) are most alike \((?P<high>{SPAN})\), (?P<least>{both}) "
            rf"least \((?P<low>{SPAN})\); {mean}\.": ends,
        },
    )


def assert_pairs_title(
    matrix: np.ndarray, labels: Sequence[str], own: np.ndarray, title: str
) -> None:
    places = np.flatnonzero(own).tolist()
    cosines = {(i, j): float(matrix[i, j]) for i in places for j in places if i < j}
    names = titled(labels)
    called = {f"{a} and {b}": (i, j) for a, i in names.items() for b, j in names.items() if i < j}
    if not cosines:
        assert title == "Cosine of every two tokens"
        return
    numbers = Numbers(list(cosines.values()))
    single = re.fullmatch(rf"Cosine of (.*): ({N})", title, re.DOTALL)
    level = re.fullmatch(rf"All pairs are about alike \(({SPAN})\)", title)
    most = re.fullmatch(
        rf"Most alike: (.*?)( and one other pair| and \d+ other pairs)? \(({SPAN})\)",
        title,
        re.DOTALL,
    )
    if single:
        assert cosines[called[single[1]]] == pytest.approx(float(single[2]), abs=0.00501)
    elif level:
        numbers.assert_alike(level[1])
    else:
        assert most, title
        more = re.sub(r"\D", "", most[2] or "")
        size = int(more) + 1 if more else 2 if most[2] else 1
        numbers.assert_leads(list(cosines).index(called[most[1]]), size, most[3])


@pytest.mark.slow
def test_every_sentence_on_pairs_is_true() -> None:
    chance = random.Random(3)
    for _ in range(N_MADE):
        n = chance.choice((1, 2, 3, 4, 7))
        numbers = np.random.default_rng(chance.randrange(2**32))
        matrix = 2 * odd_values(numbers, n, n) - 1
        matrix = ((matrix + matrix.T) / 2).astype(np.float32)
        labels, own = odd_labels(chance, n), numbers.random(n) < chance.choice((0, 0.6, 1))
        average = chance.choice((None, 0.25))
        (said,) = pairs_reading(matrix, labels, own, 2, average)
        assert_pairs(matrix, labels, own, said)
        assert_pairs_title(matrix, labels, own, pairs_title(matrix, labels, own))


@pytest.mark.slow
def test_what_is_said_of_the_model_s_own_pairs_is_true(service: EncoderService) -> None:
    for i, text in enumerate(ODD_TEXTS):
        view = of(text, *([text] * 7 if i % 5 == 0 else ["a python"]))
        states = shown(view, service)
        pairs, own = pairs_of(states), states.own
        (said,) = pairs_reading(pairs, states.labels, own, 2, None)
        assert_pairs(pairs, states.labels, own, said)
        near = nearest_tokens(view, states, service)
        texts = [service.encode(view.model, [s.text])[0] for s in view.sentences]
        counts = np.concatenate([encoding.text_ids >= 0 for encoding in texts])
        candidates = [at for at in np.flatnonzero(counts).tolist() if at != near.picked]
        cosines = cosines_to(near.picked, [encoding.hidden for encoding in texts])
        if not is_on_the_edge(cosines, candidates):
            (said,) = nearest_reading(near.picked, near.names, near.found, range(7), None)
            assert_nearest(near.picked, near.names, cosines, candidates, said)
