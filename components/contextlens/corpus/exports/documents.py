"""Texts in other clothes: subtitles, tagged sentences, chats, and questions on contexts.

A reader of lines takes the lines of a file, without their ends, and yields rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import unescape
from typing import Any, TypeGuard

from contextlens.corpus.exports.records import Item, Mark, Record, Row, Tally, cell_of, rows_of
from contextlens.corpus.exports.tools import Reader, tagged

__all__ = [
    "WEBANNO",
    "LineReader",
    "chat_messages",
    "conll",
    "conllu",
    "fasttext",
    "is_chat",
    "is_conll",
    "is_fasttext",
    "is_subtitles",
    "questions",
    "styled_subtitles",
    "subtitles",
    "tagged_table",
    "training_sets",
    "webanno",
    "written_chat",
]

LineReader = Callable[[Iterable[str], Tally], Iterator[Row]]


# --- Subtitles

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMES = re.compile(rf"\s*{_TIME}\s*(?:-->\s*{_TIME}.*|,{_TIME}\s*)")
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
    """Yield the text of each cue of .srt, .vtt or .sbv, a text a speaker, without its style."""
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
    tally.leave_out("line's style", "lines' styles", n_styled)
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


_UNSEEN = re.compile(r"\{[^{}]*\}")
_DRAWING = re.compile(r"\{[^{}]{0,200}\\p[1-9]")


def styled_subtitles(lines: Iterable[str], tally: Tally) -> Iterator[Row]:
    """Yield the lines that are said in .ass or .ssa, with their speakers."""
    titles: list[str] = []
    for line in lines:
        kind, _, rest = line.partition(":")
        kind = kind.strip().casefold()
        if kind == "format" and "text" in rest.casefold():
            titles = [title.strip().casefold() for title in rest.split(",")]
        elif kind == "comment":
            tally.leave_out("comment")
        elif kind == "dialogue" and titles:
            cells = dict(zip(titles, rest.strip().split(",", len(titles) - 1), strict=False))
            written = cells.get("text", "")
            unseen = [own for own in _UNSEEN.findall(written) if "\\" not in own]
            tally.leave_out("comment in a line", "comments in lines", len(unseen))
            plain = _STYLE.sub("", _UNSEEN.sub("", written)).replace("\\N", " ").replace("\\n", " ")
            text = " ".join(plain.replace("\\h", " ").split())
            if text and not _DRAWING.search(written):
                yield {"text": text, "author": cells.get("name", cells.get("actor", "")).strip()}
            else:
                tally.leave_out("cue without a text", "cues without a text")
    tally.name("times and styles")


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


_WORD_TITLES = ("word", "words", "token", "tokens", "form")


def tagged_table(columns: Mapping[str, Sequence[str | None]], tally: Tally) -> Iterator[Row] | None:
    """Return the rows of a table with a token and its tag a row; None for other tables.

    A column such as "Sentence #" has a value where a sentence begins, or in all of its rows.
    """
    titles = {title.strip().casefold(): title for title in columns}
    words = next((titles[own] for own in _WORD_TITLES if own in titles), "")
    numbers = next((titles[own] for own in titles if own.startswith("sent")), "")
    tags = [
        title for title, cells in columns.items()
        if (given := [cell.strip() for cell in cells if cell])
        and sum(_STRETCH.fullmatch(own) is not None for own in given) >= _N_SURE * len(given)
        and any(own[:2] in {"B-", "I-", "U-", "S-"} for own in given)
    ] if words and numbers else []  # fmt: skip
    if not tags:
        return None

    def rows() -> Iterator[Row]:
        sentence: list[tuple[str, str]] = []
        number: str | None = None
        for own, word, tag in zip(*(columns[t] for t in (numbers, words, tags[-1])), strict=True):
            if own and own != number and sentence:
                yield from _tagged_rows(sentence, tally)
                sentence = []
            number = own or number
            if word:
                sentence.append((word, tag or "O"))
            else:
                tally.leave_out("row without a token", "rows without a token")
        yield from _tagged_rows(sentence, tally)
        for title in columns:
            if title not in {numbers, words, tags[-1]}:
                tally.name(title)

    return rows()


def _tagged_rows(sentence: Sequence[tuple[str, str]], tally: Tally) -> Iterator[Row]:
    if sentence:
        tokens, tags = zip(*sentence, strict=True)
        yield from rows_of(tagged(tokens, tags, {}), tally)


WEBANNO = "#FORMAT=WebAnno TSV"
_NUMBERED = re.compile(r"(.*)\[(\d+)\]")
_STACKED = re.compile(r"(?:^|\|)((?:\\.|[^|\\]|\\$)*)")  # values between bars without a backslash
_ESCAPED = re.compile(r"\\(->|[\\\[\]|_;*tnr])")
_CONTROLS = {"t": "\t", "n": "\n", "r": ""}


def webanno(lines: Iterable[str], tally: Tally) -> Iterator[Row]:
    """Yield a row for each span of INCEpTION's or WebAnno's TSV, in its sentence."""
    layers: list[tuple[str, int]] = []
    texts: list[str] = []
    tokens: list[list[str]] = []
    for line in (*lines, ""):
        if line.startswith(("#T_SP=", "#T_RL=", "#T_CH=")):
            layer, *features = line[6:].split("|")
            is_span = line.startswith("#T_SP=")
            layers.append((layer.rpartition(".")[2] if is_span else "", max(1, len(features))))
        elif line.startswith("#Text="):
            texts.append(_unescaped(line[6:]))
        elif line.strip() and not line.startswith("#"):
            tokens.append(line.split("\t"))
        elif not line.strip() and tokens:
            yield from _spans(texts, tokens, layers, tally)
            texts, tokens = [], []


def _unescaped(value: str) -> str:
    """Return a value without the backslashes that WebAnno writes before its own marks."""
    return _ESCAPED.sub(lambda match: _CONTROLS.get(match[1], match[1]), value)


def _spans(
    texts: Sequence[str], rows: Sequence[list[str]], layers: Sequence[tuple[str, int]], tally: Tally
) -> Iterator[Row]:
    tokens = [row for row in rows if len(row) > 2 and "." not in row[0]]
    tally.leave_out("part of a token", "parts of tokens", len(rows) - len(tokens))
    forms = [_unescaped(row[2]) for row in tokens]
    text = "\n".join(texts) or " ".join(forms)
    places = _found(text, forms)
    if forms and not places:
        tally.leave_out("sentence without its words", "sentences without their words")
        return
    first = 3
    marks: list[Mark] = []
    for layer, n_features in layers:
        cells = [(row[first : first + n_features], place)
                 for row, place in zip(tokens, places, strict=True)]  # fmt: skip
        first += n_features
        if layer:
            marks += _of_layer(layer, cells, text)
        else:
            tally.leave_out("relation", n=sum(any(c not in {"_", ""} for c in own)
                                              for own, _ in cells))  # fmt: skip
    yield from rows_of(Record(text, marks), tally)


def _of_layer(
    layer: str, cells: Sequence[tuple[Sequence[str], tuple[int, int]]], text: str
) -> list[Mark]:
    """Return the spans of a layer: tokens whose values have one number are one span."""
    spans: dict[object, tuple[int, int, str]] = {}
    for number, (own, (start, end)) in enumerate(cells):
        stacked = list(
            zip(*(_STACKED.findall(cell) for cell in own if cell not in {"_", ""}), strict=False)
        )
        for level, values in enumerate(stacked):
            named = [_NUMBERED.fullmatch(value) for value in values]
            plain = [m[1] if m else v for m, v in zip(named, values, strict=True)]
            key: object = next((m[2] for m in named if m), (number, level))
            label = ", ".join(_unescaped(v) for v in plain if v != "*") or layer
            known = spans.get(key, (start, end, label))
            spans[key] = (known[0], end, known[2])
    return [Mark(a, b, label, text[a:b]) for a, b, label in spans.values()]


_LABEL = re.compile(r"__label__(\S+)\s*")


def is_fasttext(lines: Sequence[str]) -> bool:
    """True if nearly all lines begin with fastText's "__label__"."""
    filled = [line for line in lines if line.strip()]
    return bool(filled) and sum(map(bool, map(_LABEL.match, filled))) >= _N_SURE * len(filled)


def fasttext(lines: Iterable[str], tally: Tally) -> Iterator[Row]:
    """Yield the texts of fastText with their labels."""
    for line in lines:
        labels = _LABEL.findall(line)
        text = _LABEL.sub("", line).strip()
        if text:
            yield {"text": text, "label": ",".join(labels)}
        elif line.strip():
            tally.leave_out("line without a text", "lines without a text")


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


_BODIES, _AUTHORS = (
    ("text", "content", "message", "body"),
    ("from", "author", "user", "sender", "sender_name", "actor"),
)
_WHEN = ("date", "ts", "timestamp", "date_unixtime", "timestamp_ms", "createdDateTime")
_STAMPS = ("date_unixtime", "sender_name", "createdDateTime")  # keys that only messengers write
_KINDS, _LISTS = ("type", "messageType"), ("chats", "messages", "value")
_SAID = {"message", "Default", "Reply", "0", "19"}  # kinds of messages that people wrote
_TAG = re.compile(r"<[^<>]{1,500}>")
_MENDED = "Letters that Facebook writes wrongly were mended, guessed."


def chat_messages(items: Sequence[Item]) -> Reader | None:
    """Return the reader of messages in JSON.

    Telegram, Slack, Messenger, Teams and exporters of Discord write such files. Texts with a date
    and an author alone may be any data set.
    """
    if all(any(True for _ in _conversations(item)) for item in items):
        return _of_conversations(items)
    return _messages(items) if any(map(_is_marked, items)) else None


def _messages(items: Sequence[Item]) -> Reader | None:
    counts = {key: sum(key in item for item in items) for key in _BODIES}
    body = max(_BODIES, key=counts.__getitem__)
    n_said = sum(any(key in item for key in (*_AUTHORS, "subtype")) for item in items)
    if min(2 * counts[body], 2 * n_said) < len(items) or not all(
        any(key in item for key in _WHEN) for item in items
    ):  # fmt: skip
        return None
    has_kinds = any(map(_is_marked, items))

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        text = _said(item.get(body)).strip()
        if item.get("subtype") or (has_kinds and _kind(item) not in {"", *_SAID}):
            tally.leave_out("notice of the app", "notices of the app")
            return
        if not text:
            tally.leave_out("message without a text", "messages without a text")
            return
        author = next((key for key in _AUTHORS if item.get(key)), "")
        for key in item:
            if key not in {body, author, *_KINDS}:
                tally.name(key)
        row = {"text": text, "author": _author(item.get(author))}
        mended = {title: own and _mended(own) for title, own in row.items()}
        if "timestamp_ms" in item and mended != row:
            row = mended
            tally.remark(_MENDED)
        yield row

    return read


def _kind(item: Item) -> str:
    return str(next((item[key] for key in _KINDS if key in item), ""))


def _is_marked(item: Item) -> bool:
    """True if an object has what only a messenger writes; an author of Discord is an object."""
    kind = _kind(item)
    has_kind = kind == "message" or (kind in _SAID and isinstance(item.get("author"), dict))
    return has_kind or any(key in item for key in _STAMPS)


def _conversations(item: Item) -> Iterator[tuple[str | None, list[Any]]]:
    """Yield the lists of messages in an object, with the name of each conversation."""
    chats = item.get("chats")
    inside = chats.get("list") if isinstance(chats, dict) else chats
    for own in inside if isinstance(inside, list) else ():
        if isinstance(own, dict) and isinstance(own.get("messages"), list):
            yield cell_of(own.get("name")), own["messages"]
    for key in _LISTS[1:]:
        if isinstance(given := item.get(key), list):
            yield cell_of(item.get("name")), given


def _of_conversations(items: Sequence[Item]) -> Reader | None:
    found = [own for item in items for own in _conversations(item)]
    first = [own for _, messages in found for own in messages[:50] if isinstance(own, dict)]
    reader = _messages(first[:200]) if first else None
    if reader is None:
        return None
    read_message, has_names = reader, len(found) > 1 and len({name for name, _ in found}) > 1

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        for key in item:
            if key not in {"name", *_LISTS}:
                tally.name(key)
        for name, messages in _conversations(item):
            for own in messages:
                for row in read_message(own, tally) if isinstance(own, dict) else ():
                    yield {**row, "chat": name} if has_names else row

    return read


def _author(given: Any) -> str | None:
    if isinstance(given, dict) and isinstance(given.get("user"), dict):
        given = given["user"]
    if isinstance(given, dict):
        keys = ("name", "displayName", "username", "id")
        given = next((given[key] for key in keys if given.get(key)), None)
    return cell_of(given)


def _mended(text: str) -> str:
    """Return a text whose bytes of UTF-8 were taken for Latin-1 as it was, and others unchanged."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _said(value: Any) -> str:
    """Return the text of a message: Telegram's is a list of texts and of objects with a text."""
    if isinstance(value, list):
        parts = (own.get("text") if isinstance(own, dict) else own for own in value)
        return "".join(part for part in parts if isinstance(part, str))
    if isinstance(value, dict) and isinstance(value.get("content"), str):  # of Teams
        is_html = value.get("contentType") == "html"
        text = value["content"]
        return " ".join(unescape(_TAG.sub(" ", text)).split()) if is_html else str(text)
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


# --- Texts to train on

_SETS = ("set", "texts", "sentences", "pair")
_SIDES = {2: ("text1", "text2"), 3: ("anchor", "positive", "negative")}
_MAX_SETS = 1_000  # of one query


def training_sets(items: Sequence[Item]) -> Reader | None:
    """Return the reader of pairs and triplets in lists, as sentence-transformers trains on."""
    key = next((own for own in _SETS if all(_are_texts(item.get(own)) for item in items)), "")
    if key:
        return _of_sets(key)
    if not all(
        isinstance(item.get("query"), str) and _are_texts(item.get("pos"), least=1)
        and isinstance(item.get("neg", []), list) for item in items
    ):  # fmt: skip
        return None

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        near, far = (_filled_texts(item.get(side), tally) for side in ("pos", "neg"))
        if not near or not isinstance(item.get("query"), str):
            tally.leave_out("query without a text to find", "queries without a text to find")
            return
        n = max(len(near), len(far))
        tally.leave_out("text of a query with too many", "texts of queries with too many",
                        max(0, n - _MAX_SETS))  # fmt: skip
        for i in range(min(n, _MAX_SETS)):
            negative = far[i % len(far)] if far else None
            texts = (item["query"], near[i % len(near)], negative)
            yield dict(zip(_SIDES[3], texts, strict=True))
        for title in item.keys() - {"query", "pos", "neg"}:
            tally.name(title)

    return read


def _of_sets(key: str) -> Reader:
    sides = {title for titles in _SIDES.values() for title in titles}

    def read(item: Item, tally: Tally) -> Iterator[Row]:
        given = item.get(key)
        if not _are_texts(given):
            tally.leave_out("row without two or three texts", "rows without two or three texts")
            return
        own = {f"{t} (in the file)" if t in sides else t: cell_of(v) for t, v in item.items()}
        del own[key]
        yield {**dict(zip(_SIDES[len(given)], given, strict=True)), **own}

    return read


def _filled_texts(value: object, tally: Tally) -> list[str]:
    """Return the texts of a list, or a text alone; blank ones and others are counted."""
    given = value if isinstance(value, list) else [] if value is None else [value]
    texts = [own for own in given if isinstance(own, str) and own.strip()]
    tally.leave_out("entry without a text", "entries without a text", len(given) - len(texts))
    return texts


def _are_texts(value: object, least: int = 2) -> TypeGuard[list[str]]:
    return (
        isinstance(value, list)
        and len(value) >= least
        and (least == 1 or len(value) in _SIDES)
        and all(isinstance(own, str) for own in value)
    )
