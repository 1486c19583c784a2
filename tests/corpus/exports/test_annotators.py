"""What the majority says: of texts and of places, with all that has none counted."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.exports.annotators import by_majority
from contextlens.corpus.readers import Table, read
from tests.support.workbooks import zipped

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
def test_each_text_has_the_label_of_more_than_half_or_is_left_out(answers: list[list[str]]) -> None:
    items = [
        answered(f"Text number {i}", f"p{k}", label=label or None)
        for i, labels in enumerate([["a", "a"], *answers])
        for k, label in enumerate(labels)
    ]
    table = by_majority(table_of("a.jsonl", *items))
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items:
        votes[str(item["text"])].update([str(item["label"])] if item["label"] else [])
    ranked = {text: own.most_common(1) for text, own in votes.items()}
    ties = {text for text, own in ranked.items() if own and 2 * own[0][1] <= votes[text].total()}
    most = {text: own[0][0] if own else None for text, own in ranked.items() if text not in ties}
    assert dict(zip(table.columns["text"], table.columns["label"], strict=True)) == most
    left_out = [note for note in table.notes if "as no answer has a majority" in note]
    assert [int(note.split()[0]) for note in left_out] == ([len(ties)] if ties else [])


SETS = st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=1, max_size=5)


@settings(deadline=None, max_examples=50)
@given(st.lists(SETS, min_size=1, max_size=6))
def test_of_several_labels_each_is_kept_that_more_than_half_gave(
    answers: list[list[set[str]]],
) -> None:
    every = [[set("ab")], [set("cd")], [set("ac")], [set("bd")], *answers]  # several in a cell
    items = [
        answered(f"Text number {i}", f"p{k}", label=",".join(sorted(labels)))
        for i, given in enumerate(every)
        for k, labels in enumerate(given)
    ]
    items.append(answered("Text number 0", "another", label="a,b"))
    table = by_majority(table_of("a.jsonl", *items))
    votes = {f"Text number {i}": given for i, given in enumerate(every)}
    votes["Text number 0"] = [set("ab")] * 2
    most = {
        text: {label for label in "abcd" if 2 * sum(label in own for own in given) > len(given)}
        for text, given in votes.items()
    }
    found = dict(zip(table.columns["text"], table.columns["label"], strict=True))
    assert {text: {*str(cell).split(",")} for text, cell in found.items()} == {
        text: labels for text, labels in most.items() if labels
    }
    n_dropped = sum(len(set().union(*votes[text]) - most[text]) for text in found if text)
    others = "1 other was" if n_dropped == 1 else f"{n_dropped} others were"
    left_out = f", and {others} left out" if n_dropped else ""
    assert any(n.endswith(f"half of the answers have it{left_out}.") for n in table.notes)


def test_a_set_that_nobody_wrote_is_written_as_the_others() -> None:
    sets = [["a, b"], ["c, d"], ["a, c"], ["b, d"], ["a, b", "a, c, b", "b, d, a"]]
    sets.append(["a, c", "b, c", "b, a"])
    items = [answered(f"Text number {i}", f"p{k}", label=label)
             for i, given in enumerate(sets) for k, label in enumerate(given)]  # fmt: skip
    table = by_majority(table_of("a.jsonl", *items))
    assert table.columns["label"][4:] == ("a, b", "a, b, c")
    alike = [answered(f"Text number {i}", p, label=given[0])
             for i, given in enumerate(sets[:4]) for p in "xy"]  # fmt: skip
    notes = by_majority(table_of("a.jsonl", *alike)).notes
    assert notes[-1].endswith("each was kept where more than half of the answers have it.")


def test_several_labels_of_marks_are_not_counted_as_those_of_texts() -> None:
    sets = ["a,b", "c,d", "a,c", "b,d"]
    spans = [span(0, 3, "X"), span(4, 8, "Y"), span(9, 13, "X"), span(17, 21, "Y")]
    table = table_of("a.jsonl", *(answered(TEXT, p, spans=spans) for p in "ab"))
    joined = by_majority(replace(table, columns={**table.columns, "topics": tuple(sets) * 2}))
    assert joined.columns["topics"] == tuple(sets)
    assert not any("several labels" in note for note in joined.notes)


def test_a_place_is_marked_if_more_than_half_gave_it_that_label() -> None:
    bank, noon, the = span(4, 8, "MONEY"), span(17, 21, "TIME"), span(0, 3, "X")
    other, shut = {**bank, "label": "RIVER"}, span(9, 13, "A")
    items = [answered(TEXT, "ann", spans=[bank, noon, the, shut], mood="ok"),
             answered(TEXT, "bob", spans=[bank, noon, shut], mood="sad"),
             answered(TEXT, "cid", spans=[other, {**shut, "label": "B"}], mood="ok"),
             answered(TEXT, "dan", spans=[], mood="ok"),
             answered(TEXT, "eve", spans=[bank], mood="ok"),
             answered("No bank here", "ann", spans=[span(3, 7, "MONEY")], mood="ok"),
             answered("No bank here", "bob", spans=[], mood="ok")]  # fmt: skip
    table = by_majority(table_of("a.jsonl", *items))
    rows = [(r["text"], r.get("word"), r["label"], r["mood"]) for r in table.head(9)]
    assert [(row[0], *row[2:]) for row in rows] == [
        (TEXT, "MONEY", "ok"), ("No bank here", None, "ok")]  # fmt: skip
    assert (table.columns["start"][0], table.columns["end"][0]) == ("4", "8")
    said = " ".join(table.notes)
    assert "2 marks were left out: no answer on the place" in said  # shut, and No bank
    assert "2 marks were left out: most annotators" in said  # noon, the
    assert "row of its own" not in said


def test_a_file_of_ties_is_refused_with_the_way_out() -> None:
    table = table_of("a.jsonl", *(answered(TEXT, p, label=p) for p in "ab"))
    with pytest.raises(CorpusError, match="Keep their annotations apart"):
        by_majority(table)


def test_a_tie_on_a_text_costs_no_mark_and_labels_stay_as_written() -> None:
    several, comma = span(4, 8, "Z first, A second"), span(0, 3, ",")
    items = [answered(TEXT, person, spans=[several, comma], mood=mood)
             for person, mood in (("ann", "Yes, I do"), ("bob", "no"))]  # fmt: skip
    items += [answered("No bank here", person, spans=[], mood="Yes, I do") for person in "ab"]
    table = by_majority(table_of("a.jsonl", *items))
    assert list(zip(table.columns["label"], table.columns["mood"], strict=True)) == [
        ("Z first, A second", None), (",", None), (None, "Yes, I do")]  # fmt: skip
    (note,) = (note for note in table.notes if "emptied" in note)
    assert note == "“mood” was emptied once, as no answer has a majority."


def test_a_start_of_the_file_is_no_mark() -> None:
    studio = [{"data": {"text": text, "start": 12}, "annotations": [
        {"completed_by": i, "result": [{"type": "choices", "from_name": "label", "value": {
            "choices": [c]}}]} for i, c in enumerate(labels)]}
        for text, labels in ((TEXT, "ab"), ("No bank here", "aa"))]  # fmt: skip
    turk = "HITId,WorkerId,Input.text,Input.start,Answer.label\n" + "".join(
        f"1,{person},{text},12,{label}\n"
        for text, labels in ((TEXT, "ab"), ("No bank here", "aa"))
        for person, label in zip("xy", labels, strict=True)
    )
    for name, content in (("a.json", json.dumps(studio)), ("a.csv", turk)):
        table = by_majority(read(name, content.encode(), max_bytes=MAX))
        assert table.head(2) == [{"text": "No bank here", "start": "12", "label": "a"}]
        assert not any("mark" in note for note in table.notes)


def test_a_column_of_annotators_of_the_file_is_not_who_annotated() -> None:
    own: list[dict[str, object]] = [{"annotator": "team"}, {"annotator": "team"}, {}]
    labels = zip(("ann", "bob", "cid"), "xxy", own, strict=True)
    table = table_of("a.jsonl", *(answered(TEXT, p, label=v, **o) for p, v, o in labels))
    assert table.columns["annotator"] == ("team", "team", None)
    assert table.columns["annotator (annotated)"] == ("ann", "bob", "cid")
    assert "The file has “annotator” itself: “annotator (annotated)” says who" in table.notes[-1]
    joined = by_majority(table)
    assert joined.head(2) == [{"text": TEXT, "annotator": "team", "label": "x"}]
    assert not any("(annotated)" in note for note in joined.notes)
    alone = table_of("a.jsonl", answered(TEXT, "ann", label="x", annotator="team"))
    assert dict(alone.columns) == {"text": (TEXT,), "annotator": ("team",), "label": ("x",)}
    assert "the column “annotator (annotated)” was left out" in alone.notes[-1]
    turk = f"HITId,WorkerId,Input.text,Answer.annotator\n1,w1,{TEXT},me\n1,w2,{TEXT},me\n"
    answers = read("a.csv", turk.encode(), max_bytes=MAX)
    assert answers.columns["annotator"] == ("me", "me")
    assert answers.columns[answers.annotator] == ("w1", "w2")


def test_files_of_people_keep_a_column_of_annotators() -> None:
    lines = {person: [{"id": i, "text": f"Our bank {i}", "annotator": "boss",
                       "label": [person[0]]}
                      for i in range(3)] for person in ("ann", "amy", "bob")}  # fmt: skip
    content = zipped(
        {f"{p}.jsonl": "\n".join(map(json.dumps, own)).encode() for p, own in lines.items()}
    )
    table = read("a.zip", content, max_bytes=MAX)
    assert set(table.columns["annotator (in the file)"]) == {"boss"}
    assert set(table.columns[table.annotator]) == {"ann", "amy", "bob"}
    assert by_majority(table).columns["label"] == ("a", "a", "a")


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
