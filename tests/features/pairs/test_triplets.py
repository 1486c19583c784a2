"""Triplets: the share of anchors nearer to their positive, from the file to the page's script."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.readers import Table, read
from contextlens.features.pairs.comparison import evaluate
from contextlens.features.pairs.cosines import compare
from contextlens.features.pairs.pair_file import guess_columns, negative_column, pairs_from
from contextlens.features.pairs.triplets import TRIPLET_SCRIPT, TripletPairs

ROWS = [
    ("A boat crosses the lake", "A ship sails over the water", "The bread is old"),
    ("She paints the door", "She colours the door", "Trains run late on Monday"),
    ("The baker opens early", "A bakery opens at dawn", "He lost his left shoe"),
    ("A boat crosses the lake!", "a ship sails over the water", "The bread is OLD"),  # a copy
    ("He sings at night", "Nobody can hear the moon", "At night he sings"),  # the wrong way round
    ("A row without a negative", "One more sentence here", ""),
]


def table(titles: str = "anchor,positive,negative") -> Table:
    text = "\n".join([titles, *(",".join(row) for row in ROWS)])
    return read("triplets.csv", text.encode(), max_bytes=10**6)


@pytest.fixture(scope="module")
def triplets(service: EncoderService) -> TripletPairs:
    given = table()
    pairs = pairs_from(given, guess_columns(given))
    cosines = compare(pairs, service.load(BUNDLED_ID), service)
    found = evaluate(pairs, cosines).at_layer(pairs, None)
    assert isinstance(found, TripletPairs)
    return found


def test_the_share_and_its_interval_are_those_of_scipy(triplets: TripletPairs) -> None:
    assert triplets.n == 4  # a copy counts once
    assert triplets.nearer[-1].tolist() == [True, True, True, False]
    for share, low, high in triplets.shares:
        oracle = binomtest(round(share * 4), 4).proportion_ci(method="wilson")
        assert (low, high) == pytest.approx((oracle.low, oracle.high))
    assert "nearer to its positive in **3 of 4**, 75%" in str(triplets.claims()[0])
    assert triplets.rows()[-1]["nearer to the positive"] == 0.75


def test_wrong_triplets_are_listed_by_their_negative(triplets: TripletPairs) -> None:
    (wrong,) = triplets.to_read("nearer_negative").tolist()
    assert triplets.pairs.text(wrong, 1) == "At night he sings"
    assert "negative" in str(triplets.pair_claims(wrong)[0])


def test_nothing_of_the_file_is_left_out_without_a_note(triplets: TripletPairs) -> None:
    said = " ".join(triplets.remarks())
    assert "“negative” has the negatives, guessed" in said
    assert "1 triplet was left out: a text is empty." in said
    assert "1 triplet does not count" in said


def test_the_script_gives_the_pages_shares(
    triplets: TripletPairs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("pairs.npz", **dict(triplets.arrays()))
    exec(compile(TRIPLET_SCRIPT, "script", "exec"), {})
    printed = [float(share) for share in capsys.readouterr().out.split()]
    assert printed == pytest.approx(triplets.shares[:, 0], abs=5e-5)


@pytest.mark.parametrize(
    "titles", ["query,pos,neg", "sent0,sent1,hard_neg", "Anchor,Positive,Negative_1"]
)
def test_other_titles_of_triplets_are_known_and_can_be_refused(titles: str) -> None:
    given = table(titles)
    columns = guess_columns(given)
    assert [columns.text1, columns.text2] == titles.split(",")[:2]
    assert negative_column(given, columns) == titles.split(",")[2]
    assert not pairs_from(given, columns, triplets=False).are_triplets


def test_three_columns_of_texts_without_titles_are_triplets() -> None:
    rows = [(f"Where is number {i}?", f"It is here, {i}.", f"A dog ran off {i}.") for i in range(4)]
    for name, lines in (("a.tsv", map("\t".join, rows)), ("a.jsonl", map(json.dumps, rows))):
        given = read(name, "\n".join(lines).encode(), max_bytes=10_000)
        columns = guess_columns(given)
        assert (columns.text1, columns.text2) == ("column 1", "column 2")
        assert negative_column(given, columns) == "column 3"
