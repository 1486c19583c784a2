"""What most annotators say: of texts and of places, with every tie counted."""

from __future__ import annotations

import json
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.exports.annotators import by_majority
from contextlens.corpus.readers import Table, read

MAX = 1_000_000
TEXT = "The bank shut at noon"


def table_of(name: str, *items: object) -> Table:
    return read(name, "\n".join(map(json.dumps, items)).encode(), max_bytes=MAX)


def answered(text: str, person: str, **more: object) -> dict[str, object]:
    return {"text": text, "_input_hash": 1, "_task_hash": 2, "answer": "accept",
            "_annotator_id": person, **more}  # fmt: skip


def span(start: int, end: int, label: str) -> dict[str, object]:
    return {"start": start, "end": end, "label": label}


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", ""]), min_size=1, max_size=6),
                min_size=1, max_size=6))  # fmt: skip
def test_each_text_has_its_commonest_label_or_is_a_tie(answers: list[list[str]]) -> None:
    items = [
        answered(f"Text number {i}", f"p{k}", label=label or None)
        for i, labels in enumerate([["a", "a"], *answers])
        for k, label in enumerate(labels)
    ]
    table = by_majority(table_of("a.jsonl", *items))
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        votes[str(item["text"])].update([str(item["label"])] if item["label"] else [])
    ranked = {text: own.most_common(2) for text, own in votes.items()}
    ties = {text for text, own in ranked.items() if len(own) == 2 and own[0][1] == own[1][1]}
    most = {text: own[0][0] if own else None for text, own in ranked.items() if text not in ties}
    assert dict(zip(table.columns["text"], table.columns["label"], strict=True)) == most
    left_out = [note for note in table.notes if "as no answer has the most votes" in note]
    assert [int(note.split()[0]) for note in left_out] == ([len(ties)] if ties else [])


def test_a_place_is_marked_if_most_people_gave_it_that_label() -> None:
    bank, noon, the = span(4, 8, "MONEY"), span(17, 21, "TIME"), span(0, 3, "X")
    other = {**bank, "label": "RIVER"}
    items = [answered(TEXT, "ann", spans=[bank, noon, the], mood="ok"),
             answered(TEXT, "bob", spans=[bank, noon], mood="sad"),
             answered(TEXT, "cid", spans=[other], mood="ok"),
             answered(TEXT, "dan", spans=[], mood="ok"),
             answered("No bank here", "ann", spans=[span(3, 7, "MONEY")], mood="ok"),
             answered("No bank here", "bob", spans=[], mood="ok")]  # fmt: skip
    table = by_majority(table_of("a.jsonl", *items))
    rows = [(r["text"], r.get("word"), r["label"], r["mood"]) for r in table.head(9)]
    assert [(row[0], *row[2:]) for row in rows] == [
        (TEXT, "MONEY", "ok"), ("No bank here", None, "ok")]  # fmt: skip
    assert (table.columns["start"][0], table.columns["end"][0]) == ("4", "8")
    said = " ".join(table.notes)
    assert "2 marks were left out: as many people say one thing" in said  # noon, and No bank
    assert "1 mark was left out: most annotators" in said
    assert "row of its own" not in said


def test_a_file_of_ties_is_refused_with_the_way_out() -> None:
    table = table_of("a.jsonl", *(answered(TEXT, p, label=p) for p in "ab"))
    with pytest.raises(CorpusError, match="Keep their annotations apart"):
        by_majority(table)


def test_an_answer_never_takes_the_place_of_a_cell_of_the_file() -> None:
    values = {"label": {"value": "new"}, "note": {"value": "short"}}
    argilla = {"fields": {"text": TEXT, "label": "old"}, "metadata": {"note": "x"},
               "responses": [{"user_id": "u", "values": values}]}  # fmt: skip
    prodigy = answered(TEXT, "ann", label="old", options=[{"id": "new"}], accept=["new"])
    for item in (argilla, prodigy):
        table = table_of("a.jsonl", item)
        assert table.columns["label"] == ("old",)
        assert table.columns["label (annotated)"] == ("new",)
        assert any("“label” itself: what was answered is" in note for note in table.notes)
