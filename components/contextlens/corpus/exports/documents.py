"""Texts in other clothes: subtitles, tagged sentences, chats, and questions on contexts.

A reader of lines takes the lines of a file, without their ends, and yields rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from contextlens.corpus.exports.records import Item, Mark, Record, Row, Tally, cell_of, rows_of
from contextlens.corpus.exports.tools import Reader, tagged

__all__ = [
    "LineReader",
    "chat_messages",
    "conll",
    "conllu",
    "is_chat",
    "is_conll",
    "is_subtitles",
    "questions",
    "subtitles",
    "written_chat",
]

LineReader = Callable[[Iterable[str], Tally], Iterator[Row]]


# --- Subtitles

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}.*")
_STYLE = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<\d[\d:.]{0,20}>|\{\\[^{}]{0,200}\}")
_DASHES = ("-", "\u2013", "\u2014")
_HEADS = re.compile(r"(?:WEBVTT|NOTE|STYLE|REGION)\b")


def is_subtitles(lines: Sequence[str]) -> bool:
    """True if a line with times is among the first three of a file, or after a head of WebVTT."""
    first = [line for line in lines if line.strip()][:3]
    return bool(first) and (
        first[0].startswith("WEBVTT") or any(_TIMES.fullmatch(line) for line in first[:2])
    )


def subtitles(lines: Iterable[str], tally: Tally) -> Iterator[Row]:
    """Yield the text of each cue of .srt or .vtt, a text a speaker, without times and style."""
    waiting: list[str] = []  # a cue's number or name, which comes before its times
    cue: list[str] | None = None
    is_head = False
    n_styled = 0
    for line in (*lines, ""):
        if _TIMES.fullmatch(line):
            if cue and cue[-1].strip().isdigit():  # no blank line came between
                cue.pop()
            yield from _cue(cue, tally)
            cue, waiting, is_head = [], [], False
        elif not line.strip():
            yield from _cue(cue, tally)
            lost = [own for own in waiting if not own.strip().isdigit()]
            tally.leave_out("line without a time", "lines without a time", len(lost))
            cue, waiting, is_head = None, [], False
        elif cue is not None:
            plain = _STYLE.sub("", line)
            n_styled += plain != line
            cue.append(plain.strip())
        elif is_head or _HEADS.match(line):
            is_first = not is_head and not line.startswith("WEBVTT")
            tally.leave_out("note or style", "notes and styles", int(is_first))
            is_head = True
        else:
            waiting.append(line)
    tally.leave_out("style of a line", "styles of lines", n_styled)
    tally.name("times")


def _cue(lines: Sequence[str] | None, tally: Tally) -> Iterator[Row]:
    """Yield the text of a cue; lines that begin with a dash are said by another person each."""
    if lines is None:
        return
    filled = [line for line in lines if line]
    turns: list[list[str]] = []
    n_dashes = sum(line.startswith(_DASHES) for line in filled)
    for line in filled:
        if n_dashes > 1 and line.startswith(_DASHES):
            turns.append([line[1:].strip()])
        elif turns:
            turns[-1].append(line)
        else:
            turns = [[line]]
    texts = [text for turn in turns if (text := " ".join(turn).strip())]
    yield from ({"text": text} for text in texts)
    tally.leave_out("cue without a text", "cues without a text", int(not texts))


# --- Sentences with a tag for each token, a line a token

_STRETCH = re.compile(r"O|[BIESLUM]-\S+")
_N_SURE = 0.95  # of the lines end in a tag of a stretch


def is_conll(lines: Sequence[str]) -> bool:
    """True if lines are a token and its tags, in sentences between blank lines."""
    words = [line.split() for line in lines if line.strip() and not _is_comment(line)]
    words = [row for row in words if row[0] != "-DOCSTART-"]
    if len(words) < 3 or not all(2 <= len(row) <= 12 for row in words):
        return False
    tags = [row[-1] for row in words]
    n_stretches = sum(bool(_STRETCH.fullmatch(tag)) for tag in tags)
    return n_stretches >= _N_SURE * len(words) and any("-" in tag for tag in tags)


def conll(lines: Iterable[str], tally: Tally) -> Iterator[Row]:
    """Yield a row for each stretch of tokens that the last column marks, in a sentence each."""
    n_columns = 0
    for sentence in _sentences(lines):
        rows = [line.split("\t") if "\t" in line else line.split() for line in sentence]
        rows = [row for row in rows if row[0].strip()]
        is_numbered = all(len(row) > 2 and row[0].isdecimal() for row in rows)
        tokens = [row[1 if is_numbered else 0].strip() for row in rows]
        tags = [row[-1].strip() if len(row) > 1 else "O" for row in rows]
        n_columns = max([n_columns, *map(len, rows)])
        if tokens and tokens != ["-DOCSTART-"]:
            yield from rows_of(tagged(tokens, tags, {}), tally)
        elif rows:
            tally.leave_out("line between documents", "lines between documents")
    for number in range(2, min(n_columns, 20)):
        tally.name(f"column {number}")


def _is_comment(line: str) -> bool:
    """True for "# text = ...", but not for a token "#" with its tag."""
    return line.startswith("#") and not _STRETCH.fullmatch(line.split()[-1])


def _sentences(lines: Iterable[str]) -> Iterator[list[str]]:
    sentence: list[str] = []
    for line in lines:
        if line.strip():
            if not _is_comment(line):
                sentence.append(line)
        elif sentence:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


_MAX_JOINED = 20  # words of grammar in a written one


def conllu(lines: Iterable[str], tally: Tally) -> Iterator[Row]:
    """Yield a row for each word of CoNLL-U with its universal tag, in its sentence."""
    words: list[list[str]] = []
    text, last, n_joined = "", 0, 0
    has_more = False
    for line in (*lines, ""):
        cells = line.split("\t")
        number = cells[0].split("-")
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            text = value.strip() if name.strip() == "text" else text
        elif not line.strip():
            if words:
                yield from _sentence_of_words(words, text, tally)
            words, text, last, n_joined = [], "", 0, 0
        elif len(cells) < 4 or not _is_numbered(number):
            tally.leave_out("empty node or broken line", "empty nodes or broken lines")
        elif len(number) == 2:  # "2-3": a written word of two words of grammar
            words.append([*cells[:2], "_", "_", *cells[4:]])
            last, n_joined = int(number[1]), 0
        elif int(number[0]) > last:
            words.append(cells)
        elif n_joined < _MAX_JOINED:
            n_joined += 1
            words[-1][3] = "+".join(tag for tag in (words[-1][3], cells[3]) if tag != "_")
        else:
            tally.leave_out("empty node or broken line", "empty nodes or broken lines")
        has_more = has_more or len(cells) > 4
    if has_more:
        tally.name("features, heads and relations")


def _sentence_of_words(words: Sequence[Sequence[str]], given: str, tally: Tally) -> Iterator[Row]:
    parts, places, end = [], list[tuple[int, int]](), 0
    for cells in words:
        places.append((end, end + len(cells[1])))
        space = "" if len(cells) > 9 and "SpaceAfter=No" in cells[9] else " "
        parts.append(cells[1] + space)
        end += len(parts[-1])
    text = "".join(parts).rstrip()
    if given and given != text and (found := _found(given, [cells[1] for cells in words])):
        text, places = given, found
    marks = [
        Mark(a, b, _filled(cells[3]), cells[1], {"lemma": _filled(cells[2])})
        for cells, (a, b) in zip(words, places, strict=True)
        if a < b <= len(text) and cells[3] != "PUNCT"
    ]
    yield from rows_of(Record(text, marks), tally)


def _is_numbered(number: Sequence[str]) -> bool:
    """True for a word's number, and for a range of a few: "2-3"."""
    if not all(own.isdecimal() and len(own) < 10 for own in number) or len(number) > 2:
        return False
    return 0 <= int(number[-1]) - int(number[0]) < _MAX_JOINED


def _filled(cell: str) -> str | None:
    return None if cell == "_" else cell


def _found(text: str, forms: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of words in a text, in their order; none if one is not there."""
    places, end = [], 0
    for form in forms:
        start = text.find(form, end)
        if start < 0:
            return []
        end = start + len(form)
        places.append((start, end))
    return places


# --- Chats

_DAY = r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}"
_CLOCK = r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[AaPp]\.?\s?[Mm]\.?|\s?(?:Uhr|uur|h))?"
_MESSAGE = re.compile(
    rf"[\u200e\u200f\ufeff]*\[?{_DAY},?\s+{_CLOCK}\]?(?:\s*[-\u2013:]\s*|\s+)(.*)"
)
_AUTHOR = re.compile(r"([^:\n]{1,80}?):(?:\s(.*)|$)")
_NO_TEXT = re.compile(r"[\u200e\u200f]*<[^<>]{1,60}>|\u200e[^.!?]{1,60}|null", re.DOTALL)
_N_HEADS = 0.2  # of the lines, for a message may go on over several
_MAX_LINES = 200  # of one message


def is_chat(lines: Sequence[str]) -> bool:
    """True if lines begin with a day, a time and an author, as WhatsApp writes them."""
    filled = [line for line in lines if line.strip()]
    heads = [match for line in filled if (match := _MESSAGE.fullmatch(line))]
    n_said = sum(bool(_AUTHOR.fullmatch(match[1])) for match in heads)
    return (
        bool(filled)
        and _MESSAGE.fullmatch(filled[0]) is not None
        and len(heads) >= max(2, _N_HEADS * len(filled))
        and 2 * n_said >= len(heads)
    )


def written_chat(lines: Iterable[str], tally: Tally) -> Iterator[Row]:
    """Yield the messages of a chat with their authors; a message goes on until the next one."""
    message: list[str] | None = None
    author = ""
    for line in lines:
        match = _MESSAGE.fullmatch(line)
        if match is None:
            if message is None:
                tally.leave_out("line before the first message", "lines before the first message",
                                int(bool(line.strip())))  # fmt: skip
            elif len(message) < _MAX_LINES:
                message.append(line)
            else:
                tally.leave_out("line of a long message", "lines of long messages")
            continue
        yield from _message(author, message, tally)
        said = _AUTHOR.fullmatch(match[1])
        author, message = (said[1].strip(), [said[2] or ""]) if said else ("", [match[1]])
    yield from _message(author, message, tally)
    tally.name("days and times")


def _message(author: str, lines: Sequence[str] | None, tally: Tally) -> Iterator[Row]:
    text = "\n".join(lines or ()).strip()
    if lines is None:
        return
    if not author:
        tally.leave_out("notice of the app", "notices of the app")
    elif not text.strip("\u200e\u200f ") or _NO_TEXT.fullmatch(text):
        tally.leave_out("message without a text", "messages without a text")
    else:
        yield {"text": text.strip("\u200e\u200f"), "author": author.strip("\u200e\u200f~\u202f ")}


_BODIES, _AUTHORS = ("text", "content", "message", "body"), ("from", "author", "user", "sender")


def chat_messages(items: Sequence[Item]) -> Reader | None:
    """Return the reader of messages in JSON, as Telegram, Slack and exporters of Discord write."""
    first = items[0]
    if len(items) == 1 and isinstance(first.get("messages"), list):
        inside = [own for own in first["messages"][:50] if isinstance(own, dict)]
        reader = chat_messages(inside) if inside else None
        if reader is None:
            return None
        read_message = reader

        def read_all(item: Item, tally: Tally) -> Iterator[Row]:
            for own in item.get("messages") or ():
                if isinstance(own, dict):
                    yield from read_message(own, tally)

        return read_all
    when = ("date", "ts", "timestamp", "date_unixtime", "timestamp_ms")
    body = next((key for key in _BODIES if all(key in item for item in items)), "")
    is_chat_like = all(any(key in item for key in when) for item in items) and all(
        any(key in item for key in (*_AUTHORS, "actor", "subtype", "sender_name")) for item in items
    )
    if not body or not is_chat_like:
        return None

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        text = _said(item.get(body)).strip()
        kind = str(item.get("type", "message"))
        if item.get("subtype") or kind not in {"message", "Default", "Reply", "0", "19"}:
            tally.leave_out("notice of the app", "notices of the app")
        elif not text:
            tally.leave_out("message without a text", "messages without a text")
        else:
            given = next((item[k] for k in (*_AUTHORS, "sender_name") if item.get(k)), None)
            if isinstance(given, dict):
                given = given.get("name") or given.get("username") or given.get("id")
            yield {"text": text, "author": cell_of(given)}

    return read


def _said(value: Any) -> str:
    """Return the text of a message: Telegram's is a list of texts and of objects with a text."""
    if isinstance(value, list):
        parts = (own.get("text") if isinstance(own, dict) else own for own in value)
        return "".join(part for part in parts if isinstance(part, str))
    if isinstance(value, dict):
        value = value.get("text")
    return value if isinstance(value, str) else ""


# --- Questions on contexts


def questions(items: Sequence[Item]) -> Reader | None:
    """Return the reader of SQuAD: a row for each question, with its context and first answer."""
    if not all(isinstance(item.get("paragraphs"), list) for item in items) or not any(
        isinstance(own, dict) and "context" in own and isinstance(own.get("qas"), list)
        for item in items
        for own in item["paragraphs"]
    ):
        return None

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        for paragraph in item.get("paragraphs") or ():
            own = paragraph if isinstance(paragraph, dict) else {}
            context, asked = own.get("context"), own.get("qas")
            asked = [qa for qa in asked if isinstance(qa, dict)] if isinstance(asked, list) else []
            if not isinstance(context, str) or not context.strip():
                tally.leave_out("paragraph without a context", "paragraphs without a context")
                continue
            for qa in asked or [{}]:
                given = qa.get("answers")
                answers = (
                    [a for a in given if isinstance(a, dict)] if isinstance(given, list) else []
                )
                tally.leave_out("further answer", n=max(0, len(answers) - 1))
                none = {"answerable": "no" if qa["is_impossible"] else "yes"} if (
                    isinstance(qa.get("is_impossible"), bool)
                ) else {}  # fmt: skip
                yield {
                    "question": cell_of(qa.get("question")),
                    "context": context,
                    "answer": cell_of(answers[0].get("text")) if answers else None,
                    "title": cell_of(item.get("title")),
                    **none,
                }

    return read
