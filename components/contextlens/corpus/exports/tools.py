"""What annotation tools write as JSON: texts, marks with labels, labels of texts, answers.

A reader looks at the first objects of a file. If they are its tool's, it returns the function that
makes rows of one object. The last readers know no tool: they find marks and texts wherever a file
has them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from contextlens.corpus.exports.records import (
    ANNOTATOR,
    NO_PLACE,
    PERSON,
    Item,
    Mark,
    Record,
    Row,
    Tally,
    cell_of,
    flat,
    marks_in,
    rows_of,
)
from contextlens.corpus.offsets import is_whole
from contextlens.corpus.table import MAX_COLUMNS, guess_text_column, kind_of

__all__ = [
    "Reader",
    "argilla",
    "doccano",
    "label_studio",
    "label_studio_min",
    "labelbox",
    "marked_texts",
    "mechanical_turk",
    "nested_texts",
    "prodigy",
    "tagged",
    "tagged_tokens",
]

Reader = Callable[[Item, Tally], Iterator[Row]]

_NO_TEXT = ("row without a text", "rows without a text")
_MAX_FITS = 500_000  # marks that are tried on texts to find the title of the texts
_MAX_TRIED = 100  # of them of one object
_PIECES = {"tokens", "sents", "sentences"}
_REJECTED = {"reject": "rejected", "ignore": "ignored", "discarded": "discarded"}


# --- Where a file has its texts and its marks


def _text_title(items: Sequence[Mapping[str, Any]], marks: Sequence[Sequence[Mark]]) -> str:
    """Return the title of the values in which the marks cover words; "" if there is none.

    Without marks it is the likeliest title of texts.
    """
    every = dict.fromkeys(
        title for item in items for title, value in item.items() if _is_text(value)
    )
    titles = list(islice(every, MAX_COLUMNS))
    n_tried = min(_MAX_TRIED, 1 + _MAX_FITS // (1 + len(titles) * len(items)))
    columns = {
        title: [value if _is_text(value := item.get(title)) else None for item in items]
        for title in titles
    }
    fits = {
        title: sum(
            _fit(text, mark)
            for text, own in zip(cells, marks, strict=True)
            if text
            for mark in own[:n_tried]
        )
        for title, cells in columns.items()
    }
    most = max(fits.values(), default=0)
    likely = {title: cells for title, cells in columns.items() if fits[title] == most}
    kinds = {title: kind_of(cells) for title, cells in likely.items()}
    return guess_text_column(likely, kinds)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value) and not value.isspace()


def _fit(text: str, mark: Mark) -> int:
    """Return 2 if a mark covers its word in a text, 1 if it covers whole words, else 0."""
    span = (mark.start, mark.end)
    if mark.word:
        return 2 * (text[slice(*span)] == mark.word)
    return int(is_whole(text, span))


def _mark_titles(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the titles of lists that hold marks: most of those that hold anything.

    Places of tokens and sentences are marks only if nothing else is, as in spaCy's JSON.
    """
    votes: dict[str, int] = {}
    for item in items:
        for title, value in item.items():
            if isinstance(value, list) and any(isinstance(own, list | dict) for own in value):
                is_marked = 2 * len(marks_in(value) or ()) >= len(value)
                votes[title] = votes.get(title, 0) + (1 if is_marked else -1)
    titles = [title for title, n in votes.items() if n > 0]
    chosen = [title for title in titles if title.rpartition(".")[2] not in _PIECES]
    return chosen or titles


def _marked(
    cells: Mapping[str, Any], titles: Sequence[str], tally: Tally
) -> tuple[list[Mark], list[str]]:
    """Return the marks under some titles, and those of these titles that are marks here.

    A list of plain values under such a title is no list of places; what marks nothing is counted.
    """
    marks: list[Mark] = []
    used = []
    for title in titles:
        value = cells.get(title)
        if not isinstance(value, list) or not value:
            continue
        found = marks_in(value) or []
        if found or all(isinstance(item, list | dict) for item in value):
            used.append(title)
            marks += found
            tally.leave_out(*NO_PLACE, n=len(value) - len(found))
    return marks, used


def _others(
    cells: Mapping[str, Any], used: Collection[str], hidden: Collection[str], tally: Tally
) -> Row:
    """Return the cells besides text and marks; the tool's own, and lists of objects, are named."""
    row: Row = {}
    for title, value in cells.items():
        if title in used:
            continue
        if title in hidden:
            tally.name(title)
        elif (cell := cell_of(value)) is not None or not isinstance(value, list | dict):
            row[title] = cell
        elif value:
            tally.name(title)
    return row


def _record_reader(
    items: Sequence[Mapping[str, Any]],
    *,
    hidden: Sequence[str] = (),
    prepare: Callable[[Item, Tally], Iterator[Item]] | None = None,
    needs_marks: bool = False,
) -> Reader | None:
    """Return the reader of objects that have a text and perhaps lists of marks, if they do.

    Args:
        items: the first objects.
        hidden: titles of what is the tool's own.
        prepare: makes the objects with a text and marks of one of the file's; itself by default.
        needs_marks: True if it is no such file without marks.
    """
    prepare = prepare or (lambda item, _: iter([item]))
    prepared = [own for item in items for own in prepare(item, Tally())] or items
    head = [dict(flat(own)) for own in prepared]
    titles = [title for title in _mark_titles(head) if title not in hidden]
    kept = [{t: v for t, v in cells.items() if t not in hidden} for cells in head]
    text_title = _text_title(kept, [_marked(cells, titles, Tally())[0] for cells in head])
    if not text_title or (needs_marks and not titles):
        return None

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        for own in prepare(item, tally):
            cells = dict(flat(own))
            text = cells.get(text_title)
            if not _is_text(text):
                tally.leave_out(*_NO_TEXT)
                continue
            marks, used = _marked(cells, titles, tally)
            others = _others(cells, [text_title, *used], hidden, tally)
            yield from rows_of(Record(str(text), marks, others), tally)

    return read


# --- Label Studio

_STUDIO_OWN = (
    *("id", "annotation_id", "created_at", "updated_at", "lead_time", "inner_id", "project"),
    *("file_upload", "comment_count", "draft_id", "drafts", "predictions", "history", "agreement"),
)


def label_studio(items: Sequence[Item]) -> Reader | None:
    """Return the reader of Label Studio's JSON: tasks with data, annotations and their results."""
    if not all(isinstance(item.get("data"), dict) and _annotations(item) for item in items):
        return None
    data = [dict(flat(item["data"])) for item in items]
    marks = [[m for a in _annotations(item) for m in _results(a, Tally())[0]] for item in items]
    text_title = _text_title(data, marks)
    if not text_title:
        return None

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        task = item.get("data")
        cells = dict(flat(task)) if isinstance(task, dict) else {}
        text = cells.get(text_title)
        annotations = _annotations(item)
        cancelled = [own for own in annotations if own.get("was_cancelled")]
        valid = [own for own in annotations if not own.get("was_cancelled")]
        tally.leave_out("cancelled annotation", n=len(cancelled))
        for title, one in (("predictions", "prediction of a model"), ("drafts", "draft")):
            several = "predictions of a model" if title == "predictions" else ""
            given = item.get(title)
            tally.leave_out(one, several, len(given) if isinstance(given, list) else 0)
        if not _is_text(text):
            tally.leave_out(*_NO_TEXT)
            return
        if cancelled and not valid:
            tally.leave_out("text with no other annotation", "texts with no other annotation")
            return
        tally.share(len(valid))
        others = _others(cells, [text_title], (), tally)
        for number, annotation in enumerate(valid or [{}], start=1):
            marks, labels = _results(annotation, tally)
            person = _person(annotation) or f"annotation {number}"
            given = {**labels, **({PERSON: person} if len(valid) > 1 else {})}
            yield from rows_of(Record(str(text), marks, tally.answered(others, given)), tally)

    return read


def _annotations(item: Item) -> list[Mapping[str, Any]]:
    """Return the annotations of a task; those of versions before 1.0 are "completions"."""
    given = item.get("annotations", item.get("completions"))
    if not isinstance(given, list):
        return []
    return [own for own in given if isinstance(own, dict)] or [{}]


def _person(annotation: Mapping[str, Any]) -> str | None:
    given = annotation.get("completed_by")
    if isinstance(given, dict):
        given = given.get("email") or given.get("id")
    return cell_of(given)


def _results(annotation: Mapping[str, Any], tally: Tally) -> tuple[list[Mark], Row]:
    """Return the marks of an annotation, and the labels that it gives to the whole text."""
    given = annotation.get("result")
    results = [own for own in given if isinstance(own, dict)] if isinstance(given, list) else []
    marks: dict[str, Mark] = {}
    of_marks: dict[str, dict[str, str]] = {}
    labels: dict[str, list[str]] = {}
    for number, result in enumerate(results):
        value, kind = result.get("value"), str(result.get("type") or "")
        value = value if isinstance(value, dict) else {}
        title, place = str(result.get("from_name") or kind or "label"), _place(value)
        region = str(result.get("id") or number)
        choice = _choice(value, kind)
        is_mark = kind.casefold().endswith("labels")
        if place is not None and is_mark:
            word = value.get("text") if isinstance(value.get("text"), str) else None
            marks[region] = replace(place, label=choice, word=word)
        elif is_mark:
            tally.leave_out(*NO_PLACE)
        elif choice is None:
            tally.leave_out(
                f"result of the kind “{kind[:40]}”", f"results of the kind “{kind[:40]}”"
            )
        elif region in marks:  # a choice for one mark, not for the text
            of_marks.setdefault(region, {})[title] = choice
        else:
            labels.setdefault(title, []).append(choice)
    found = [replace(mark, more=of_marks.get(region, {})) for region, mark in marks.items()]
    return found, {title: ",".join(choices) for title, choices in labels.items()}


def _place(value: Mapping[str, Any]) -> Mark | None:
    """Return the place of a result: of HTML, the characters of its whole text."""
    whole = value.get("globalOffsets")
    found = marks_in([whole if isinstance(whole, dict) else value])
    if found is None and "startOffset" in value:
        found = marks_in([{"start": value["startOffset"], "end": value.get("endOffset")}])
    return found[0] if found else None


def _choice(value: Mapping[str, Any], kind: str) -> str | None:
    """Return what a result says: its labels, choices, rating, number, date or written text."""
    for key in (kind, kind.casefold(), "choices", "labels", "taxonomy", "rating", "number"):
        given = value.get(key)
        if key == "taxonomy" and isinstance(given, list):
            given = [" / ".join(map(str, path)) if isinstance(path, list) else path
                     for path in given]  # fmt: skip
        if (cell := cell_of(given)) is not None:
            return cell
    return cell_of(value.get("text")) if kind == "textarea" else None


def label_studio_min(items: Sequence[Item]) -> Reader | None:
    """Return the reader of Label Studio's JSON-MIN: a row for each annotation."""
    if not all("annotation_id" in item and "lead_time" in item for item in items):
        return None

    def prepare(item: Item, tally: Tally) -> Iterator[Item]:
        own = {PERSON if t == ANNOTATOR else t: _of_cell(value) for t, value in item.items()}
        if (person := cell_of(own.get(PERSON))) is not None:
            tally.meet(person)
        yield own

    return _record_reader(items, hidden=_STUDIO_OWN, prepare=prepare)


def _of_cell(value: object) -> object:
    """Return the value of a cell of JSON-MIN or CSV: choices alone, a list's JSON as the list."""
    if isinstance(value, str) and value.startswith(("[{", '{"choices"', '["')):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return value
    if isinstance(value, dict) and isinstance(value.get("choices"), list):
        return value["choices"]
    if isinstance(value, list) and value and all(
        isinstance(own, dict) and len(own) == 1 for own in value
    ):  # fmt: skip
        inner = [next(iter(own.values())) for own in value]
        return inner if all(not isinstance(own, dict | list) for own in inner) else value
    return value


# --- Prodigy

_PRODIGY_OWN = (
    *("tokens", "options", "answer", "accept", "relations", "arcs", "config", "head", "_timestamp"),
    *("_task_hash", "_input_hash", "_view_id", "_session_id", "_annotator_id", "_is_binary"),
)


def prodigy(items: Sequence[Item]) -> Reader | None:
    """Return the reader of Prodigy's JSONL: answers, spans, and the options that were accepted."""
    answers = {"accept", *_REJECTED}
    known = ("_task_hash", "_input_hash", "_view_id", "_session_id", "_annotator_id", "options")
    if not all(str(item.get("answer")) in answers and any(k in item for k in (*known, "spans"))
               for item in items):  # fmt: skip
        return None

    def prepare(item: Item, tally: Tally) -> Iterator[Item]:
        answer = item.get("answer")
        if answer != "accept":
            kind = _REJECTED.get(str(answer), "unanswered")
            tally.leave_out(f"{kind} example")
            return
        own = {key: value for key, value in item.items() if key != "tokens"}
        answers: Row = {}
        options, accepted = item.get("options"), item.get("accept")
        if isinstance(options, list) and isinstance(accepted, list):
            answers["label"] = [_option(options, choice) for choice in accepted]
        if (person := cell_of(item.get("_annotator_id") or item.get("_session_id"))) is not None:
            tally.meet(person)
            answers[PERSON] = person
        yield tally.answered(own, answers)

    return _record_reader(items, hidden=_PRODIGY_OWN, prepare=prepare)


def _option(options: Sequence[Any], choice: object) -> object:
    """Return the ID of an option; its text if the ID is a number."""
    if isinstance(choice, str) and not choice.isdigit():
        return choice
    texts = (
        own.get("text") for own in options if isinstance(own, dict) and own.get("id") == choice
    )
    return next((text for text in texts if isinstance(text, str) and text), choice)


# --- doccano


def doccano(items: Sequence[Item]) -> Reader | None:
    """Return the reader of doccano's JSONL: labels of places or of texts, entities, comments."""
    if not all("id" in item and isinstance(item.get("text", item.get("data")), str)
               and any(isinstance(item.get(k), list) for k in ("label", "labels", "entities"))
               for item in items):  # fmt: skip
        return None
    own = ("id", "Comments", "comments", "relations", "annotation_approver", "meta")
    return _record_reader(items, hidden=own)


# --- Argilla

_ARGILLA_OWN = (
    *("id", "_server_id", "vectors", "tokens", "metrics", "event_timestamp", "explanation"),
    *("prediction_agent", "annotation_agent", "multi_label", "external_id", "inserted_at"),
    "updated_at",
)


def argilla(items: Sequence[Item]) -> Reader | None:
    """Return the reader of Argilla's records: those of version 2, of feedback, and of version 1."""
    if all(isinstance(item.get("fields"), dict) and "responses" in item for item in items):
        prepare = _of_argilla_2
    elif all({"annotation", "prediction"} <= item.keys() and "status" in item for item in items):
        prepare = _of_argilla_1
    elif all(any(key.endswith((".responses", "-suggestion")) for key in item) for item in items):
        prepare = _of_argilla_rows
    else:
        return None
    return _record_reader(items, hidden=_ARGILLA_OWN, prepare=prepare)


def _of_argilla_2(item: Item, tally: Tally) -> Iterator[Item]:
    responses = item.get("responses")
    people: dict[str, Row] = {}
    for title, value in responses.items() if isinstance(responses, dict) else ():
        for i, own in enumerate(value if isinstance(value, list) else ()):
            if isinstance(own, dict):
                _respond(people, own.get("user_id"), i, title, own, tally)
    feedback = responses if isinstance(responses, list) else ()  # a list of people
    for i, own in enumerate(feedback):
        values = own.get("values") if isinstance(own, dict) else None
        for title, value in values.items() if isinstance(values, dict) else ():
            answer = value if isinstance(value, dict) else {"value": value}
            status = {"status": own.get("status")}
            _respond(people, own.get("user_id"), i, title, {**status, **answer}, tally)
    fields = item.get("fields")
    more = {key: item[key] for key in ("metadata",) if key in item}
    base = {**(fields if isinstance(fields, dict) else {}), **more}
    yield from _for_each_person(base, people, item, tally)


def _of_argilla_rows(item: Item, tally: Tally) -> Iterator[Item]:
    """The records of a table of Argilla's: "label.responses", or "label" beside suggestions."""
    people: dict[str, Row] = {}
    base: Row = {}
    for key, value in item.items():
        title = key.removesuffix(".responses")
        if title != key:
            users = item.get(f"{key}.users")
            states = item.get(f"{key}.status")
            for i, own in enumerate(value if isinstance(value, list) else ()):
                person = users[i] if isinstance(users, list) and i < len(users) else None
                state = states[i] if isinstance(states, list) and i < len(states) else None
                _respond(people, person, i, title, {"value": own, "status": state}, tally)
        elif f"{key}-suggestion" in item and isinstance(value, list):
            for i, own in enumerate(value):
                if isinstance(own, dict):
                    _respond(people, own.get("user_id"), i, key, own, tally)
        elif ".responses." in key:
            continue
        elif key.endswith("suggestion") or ".suggestion." in key or "-suggestion-" in key:
            is_one = key.endswith("suggestion") and value is not None
            tally.leave_out("suggestion of a model", "suggestions of a model", int(is_one))
        else:
            base[key] = value
    yield from _for_each_person(base, people, item, tally)


def _respond(
    people: dict[str, Row],
    user: object,
    number: int,
    title: str,
    answer: Mapping[str, Any],
    tally: Tally,
) -> None:
    """Add the answer of a user to a question; one without a user is told apart by its number."""
    state = str(answer.get("status") or "submitted")
    if state in {"discarded", "draft"}:
        tally.leave_out(f"{state} response")
        return
    answers = people.setdefault(cell_of(user) or f"response {number + 1}", {})
    if title in answers:
        tally.leave_out("further response of a user", "further responses of a user")
    else:
        answers[title] = answer.get("value")


def _for_each_person(
    base: Item, people: Mapping[str, Row], item: Item, tally: Tally
) -> Iterator[Item]:
    suggestions = item.get("suggestions")
    n = len(suggestions) if isinstance(suggestions, list | dict) else 0
    tally.leave_out("suggestion of a model", "suggestions of a model", n)
    if str(item.get("status") or "").casefold() == "discarded":
        tally.leave_out("discarded record")
        return
    tally.share(len(people))
    for person, labels in people.items():
        answers = {**labels, **({PERSON: person} if len(people) > 1 else {})}
        yield tally.answered(dict(flat(base)), answers)
    if not people:
        yield base


def _of_argilla_1(item: Item, tally: Tally) -> Iterator[Item]:
    if str(item.get("status") or "").casefold() == "discarded":
        tally.leave_out("discarded record")
        return
    tally.leave_out(
        "prediction of a model", "predictions of a model", int(bool(item["prediction"]))
    )
    hidden = {"prediction", "annotation", "status", "inputs"}
    base = {key: value for key, value in item.items() if key not in hidden}
    if not _is_text(item.get("text")) and isinstance(item.get("inputs"), dict):
        base |= item["inputs"]
    yield tally.answered(base, {"label": item.get("annotation")})


# --- Labelbox


def labelbox(items: Sequence[Item]) -> Reader | None:
    """Return the reader of Labelbox's NDJSON: rows of data with the labels of projects."""
    if not all(
        isinstance(row := item.get("data_row"), dict) and isinstance(row.get("row_data"), str)
        and isinstance(item.get("projects"), dict) for item in items
    ):  # fmt: skip
        return None

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        row = item.get("data_row")
        text = row.get("row_data") if isinstance(row, dict) else None
        projects = item.get("projects")
        given = [own for p in (projects.values() if isinstance(projects, dict) else ())
                 for own in _dicts(p, "labels")]  # fmt: skip
        if not _is_text(text):
            tally.leave_out(*_NO_TEXT)
            return
        tally.share(len(given))
        for number, label in enumerate(given or [{}], start=1):
            annotations = label.get("annotations")
            objects = _dicts(annotations, "objects")
            marks = [mark for own in objects if (mark := _labelbox_mark(own)) is not None]
            tally.leave_out(*NO_PLACE, n=len(objects) - len(marks))
            tally.leave_out("relation", n=len(_dicts(annotations, "relationships")))
            cells: Row = {}
            for own in _dicts(annotations, "classifications"):
                cells[str(own.get("name") or "class")] = _labelbox_answer(own)
            if len(given) > 1:
                details = label.get("label_details")
                person = details.get("created_by") if isinstance(details, dict) else None
                cells[PERSON] = cell_of(person) or f"annotation {number}"
            yield from rows_of(Record(str(text), marks, cells), tally)

    return read


def _dicts(value: object, key: str) -> list[Mapping[str, Any]]:
    """Return the objects in a list of an object."""
    given = value.get(key) if isinstance(value, dict) else None
    return [own for own in given if isinstance(own, dict)] if isinstance(given, list) else []


def _labelbox_mark(item: Mapping[str, Any]) -> Mark | None:
    found = marks_in([item.get("location")])
    return replace(found[0], label=cell_of(item.get("name"))) if found else None


def _labelbox_answer(item: Mapping[str, Any]) -> str | None:
    radio, text = item.get("radio_answer"), item.get("text_answer")
    if isinstance(radio, dict):
        return cell_of(radio.get("name"))
    if isinstance(text, dict):
        return cell_of(text.get("content"))
    return cell_of([own.get("name") for own in _dicts(item, "checklist_answers")])


# --- Amazon Mechanical Turk


def mechanical_turk(items: Sequence[Item]) -> Reader | None:
    """Return the reader of results of Mechanical Turk: inputs, answers, and who gave them."""
    if not all("HITId" in item and "WorkerId" in item for item in items) or not any(
        key.startswith("Input.") for item in items for key in item
    ):
        return None

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        if str(item.get("AssignmentStatus")).casefold() == "rejected":
            tally.leave_out("rejected assignment")
            return
        given: Row = {}
        answers: Row = {}
        for key, value in item.items():
            kind, _, title = key.partition(".")
            if kind == "Input" and title:
                given[title] = value
            elif kind == "Answer" and title == "taskAnswers":
                answers |= _task_answers(value)
            elif kind == "Answer" and title:
                answers[title.removesuffix(".label")] = value
            else:
                tally.name(key)
        if (person := cell_of(item.get("WorkerId"))) is not None:
            tally.meet(person)
            answers[PERSON] = person
        yield tally.answered(given, answers)

    return read


def _task_answers(value: object) -> Row:
    """Return the answers in a cell: [{"mood": {"label": "sad"}, "kind": {"a": true}}]."""
    try:
        given = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return {}
    answers: Row = {}
    for own in given if isinstance(given, list) else ():
        for title, answer in own.items() if isinstance(own, dict) else ():
            if isinstance(answer, dict) and "label" in answer:
                answers[title] = cell_of(answer["label"])
            elif isinstance(answer, dict):
                answers[title] = cell_of([key for key, is_on in answer.items() if is_on is True])
            else:
                answers[title] = cell_of(answer)
    return answers


# --- Files of no known tool

_MAX_TITLES = 200  # of nested values
_MIN_WORDS = 3  # of a value that is a text
_TAGS = ("ner_tags", "ner", "tags", "labels", "bio", "pos_tags", "upos", "pos")


def marked_texts(items: Sequence[Item]) -> Reader | None:
    """Return the reader of texts with a list of places, whoever wrote them."""

    def prepare(item: Item, _: Tally) -> Iterator[Item]:
        cats = item.get("cats")  # spaCy's: {"POSITIVE": 1.0, "NEGATIVE": 0.0}
        if isinstance(cats, dict) and all(isinstance(n, int | float) for n in cats.values()):
            item = {**item, "cats": [title for title, n in cats.items() if n >= 0.5]}
        yield item

    return _record_reader(items, prepare=prepare, needs_marks=True)


def tagged_tokens(items: Sequence[Item]) -> Reader | None:
    """Return the reader of sentences that are lists of tokens, with a tag for each."""
    title = next((key for key in ("tokens", "words", "token") if _has_lists(items, key)), "")
    if not title or any(_is_text(item.get(key)) for item in items for key in ("text", "sentence")):
        return None
    titles = [
        key
        for key in dict.fromkeys(key for item in items for key in item)
        if key != title and all(_are_parallel(item, title, key) for item in items)
    ]
    chosen = next((key for key in _TAGS if key in titles), next(iter(titles), ""))

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        tokens = item.get(title)
        if not isinstance(tokens, list) or not all(isinstance(own, str) for own in tokens):
            tally.leave_out(*_NO_TEXT)
            return
        for key in titles:
            if key != chosen:
                tally.name(key)
        tags = item.get(chosen) if chosen and _are_parallel(item, title, chosen) else []
        others = _others(item, [title, *titles], (), tally)
        yield from rows_of(tagged(tokens, [str(own) for own in tags or []], others), tally)

    return read


def _has_lists(items: Sequence[Item], key: str) -> bool:
    return all(
        isinstance(own := item.get(key), list) and own and all(isinstance(t, str) for t in own)
        for item in items
    )


def _are_parallel(item: Item, title: str, key: str) -> bool:
    tokens, tags = item.get(title), item.get(key)
    return (
        isinstance(tokens, list)
        and isinstance(tags, list)
        and len(tokens) == len(tags)
        and all(isinstance(tag, str | int) for tag in tags)
    )


_OUTSIDE = {"O", "0", "_", "-", "", "None"}


def tagged(
    tokens: Sequence[str],
    tags: Sequence[str],
    cells: Mapping[str, Any],
    places: Sequence[tuple[int, int]] | None = None,
    text: str | None = None,
) -> Record:
    """Return a sentence of tokens with the stretches that their tags mark.

    Args:
        tokens: the tokens, joined with spaces unless their places in a text are given.
        tags: a tag for each: of stretches ("B-PER", "I-PER", "O", also "S-", "E-", "U-", "L-"), or
            of single tokens.
        cells: cells of all rows.
        places: the place of each token in `text`.
        text: the sentence.
    """
    if places is None or text is None:
        ends, end = [], -1
        for token in tokens:
            end += 1 + len(token)
            ends.append(end)
        places = [(end - len(t), end) for t, end in zip(tokens, ends, strict=True)]
        text = " ".join(tokens)
    stretches: list[tuple[int, int, str]] = []
    inside = ""
    for tag, (start, end) in zip(tags, places, strict=False):
        first, dash, kind = tag.partition("-")
        is_stretch = bool(dash) and first in set("BIESLUM") and bool(kind)
        if tag in _OUTSIDE:
            inside = ""
            continue
        label = kind if is_stretch else tag
        if is_stretch and first in set("IELM") and inside == label:
            stretches[-1] = (stretches[-1][0], end, label)
        else:
            stretches.append((start, end, label))
        inside = label if is_stretch and first in set("BIM") else ""
    marks = [Mark(a, b, label, text[a:b]) for a, b, label in stretches if a < b]
    return Record(text, marks, cells)


def _has_objects(value: object) -> bool:
    return (isinstance(value, dict) and bool(value)) or (
        isinstance(value, list) and any(isinstance(own, dict) and own for own in value)
    )


def nested_texts(items: Sequence[Item]) -> Reader | None:
    """Return the reader of objects with objects in them, if some of their values are texts."""
    cells = [dict(flat(item)) for item in items]
    titles = dict.fromkeys(title for item in cells for title in item)
    is_nested = any(_has_objects(own) for item in items for own in item.values())
    texts = (value for item in cells for value in item.values() if isinstance(value, str))
    has_texts = any(len(text.split()) >= _MIN_WORDS for text in texts)
    if not is_nested or not has_texts or len(titles) > _MAX_TITLES:
        return None

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        row = _others(dict(flat(item)), (), (), tally)
        if row:
            yield row
        else:
            tally.leave_out(*_NO_TEXT)

    return read
