"""A foreign tokenizer is tried in a process of its own, and what it does there decides."""

from __future__ import annotations

import base64
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contextlens.core.encoder import tokenizer_trial
from contextlens.core.encoder.tokenizer_trial import RefusedError, try_tokenizer

Rule = dict[str, Any]
SECONDS = 60.0  # of the clock on a busy machine; on its own each takes at most four


def replace(pattern: str, content: str, kind: str = "String") -> Rule:
    return {"type": "Replace", "pattern": {kind: pattern}, "content": content}


def split(pattern: str) -> Rule:
    parts = {"behavior": "Isolated", "invert": False}
    return {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, **parts}}


def normalizers(*rules: Rule) -> Rule:
    return {"normalizer": {"type": "Sequence", "normalizers": list(rules)}}


def model(**changes: Any) -> Rule:
    piece = {"type": "WordPiece", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}
    plain = {**piece, "continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    return {"model": plain | changes, "added_tokens": [], "post_processor": None}


def unigram(**changes: Any) -> Rule:
    plain = {"type": "Unigram", "vocab": [["<unk>", 0.0], ["a", -1.0]], "unk_id": 0}
    return {"model": plain | changes, "added_tokens": [], "post_processor": None}


def template(**changes: Any) -> Rule:
    plain = {"single": [A], "pair": [A, B], "special_tokens": {}}
    return {"post_processor": {"type": "TemplateProcessing", **plain, **changes}}


def added(**changes: Any) -> Rule:
    marks = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {"id": 0, "content": "x", **marks, **changes}


def padding(**changes: Any) -> Rule:
    plain = {"direction": "Right", "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"}
    strategy = {"strategy": "BatchLongest", "pad_to_multiple_of": None}
    return {"padding": {**plain, **strategy, **changes}}


def charsmap(texts: bytes, n_trie: int = 4) -> Rule:
    data = n_trie.to_bytes(4, "little") + b"\0" * n_trie + texts
    table = base64.b64encode(data).decode()
    return {"normalizer": {"type": "Precompiled", "precompiled_charsmap": table}}


A, B = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
SPECIAL = {"SpecialToken": {"id": "x", "type_id": 0}}
FAR = {"x": {"id": "x", "ids": [4 * 10**9], "tokens": ["x"]}}
UNREADABLE, SLOW = "cannot be read or fails on a text", "takes more than 1 second over one text"
LONG_TEXTS = "characters of 1; at most 24 for each"

HOSTILE: dict[str, tuple[Rule, str]] = {
    # rules that multiply a text
    "twenty rules that double": (normalizers(*[replace("a", "aa")] * 20), "makes 1,048,576"),
    "five that double": (normalizers(*[replace("a", "aa")] * 5), "at most 24 for each"),
    "of letters that no text here has": (normalizers(*[replace("q7", "q7q7")] * 20), "at most 24"),
    "of a pattern": (
        normalizers(replace("[q]7", "qj7", "Regex"), *[replace("qj7", "qj7" * 2)] * 9),
        "24",
    ),
    "one long replacement": ({"normalizer": replace("a", "b" * 65)}, f"65 {LONG_TEXTS}"),
    "one of a rare sign": ({"normalizer": replace("\ufb06", "b" * 99)}, f"99 {LONG_TEXTS}"),
    "a long text in front": ({"normalizer": {"type": "Prepend", "prepend": "a" * 99}}, LONG_TEXTS),
    "a rule of a thousand letters": ({"normalizer": replace("a", "b" * 1000)}, "string of 1,000"),
    "a decoder that grows": (
        {"decoder": {"type": "Sequence", "decoders": [replace("a", "aa")] * 20}},
        "on the way back to text",
    ),
    "a map to a long text": (charsmap(b"x" * 200 + b"\0"), UNREADABLE),
    "a map to a text that is too long": (
        charsmap(b"x" * 200 + b"\0", n_trie=2048),
        "table of characters",
    ),
    "a map that breaks off": (charsmap(b""), UNREADABLE),
    # patterns without end
    "a pattern that gives up": (split("(x+x+)+y"), UNREADABLE),
    "one that gives up at the end": (split("(a|aa)+$"), UNREADABLE),
    "one of letters that no text has": (split("(?:[q][7]|[q][7][q][7])+z"), UNREADABLE),
    "one that goes back": (split(r"(a)|\1\k<name>"), UNREADABLE),
    "one that is none": (split("("), UNREADABLE),
    "a slow pattern": (split("a+b"), SLOW),
    "a slow pattern in a normalizer": ({"normalizer": replace(r"\s+$", "", "Regex")}, SLOW),
    "a slow pattern in a decoder": ({"decoder": replace(r"\p{L}+\d", "", "Regex")}, SLOW),
    # what is put around a text
    "a text doubled": (template(single=[A, A]), "leaves the text out, or doubles it"),
    "a text left out": (template(single=[]), "leaves the text out, or doubles it"),
    "a segment": (template(single=[{"Sequence": {"id": "A", "type_id": 4 * 10**9}}]), "a segment"),
    "a long template": (
        template(
            single=[A, *[SPECIAL] * 99],
            special_tokens={"x": {"id": "x", "ids": [0], "tokens": ["x"]}},
        ),
        "puts 99 tokens around a text; at most 16",
    ),
    "an ID around a text": (template(single=[A, SPECIAL], special_tokens=FAR), "ID 4000000000"),
    "an ID of another kind": (
        {"post_processor": {"type": "BertProcessing", "sep": ["x", -1], "cls": ["x", 0]}},
        UNREADABLE,
    ),
    "padding": (padding(strategy={"Fixed": 200_000}), "pads texts to more than 100,000"),
    # vocabularies
    "an ID of 4 thousand million": (model(vocab={"a": 4 * 10**9}), "ID 4000000000; at most"),
    "an added text": ({"added_tokens": [added(content="x" * 1000)]}, "token of 1,000 characters"),
    "an ID below 0": (model(vocab={"a": -1}), UNREADABLE),
    "no vocabulary": (model(vocab={}), "vocabulary is empty"),
    "a long piece": (model(vocab={"a" * 1000: 0}), "a token of 1,000 characters; at most 512"),
    "long words": (model(max_input_chars_per_word=10**6), "words of up to 1,000,000"),
    "chance": (model(type="BPE", vocab={"a": 0}, merges=[], dropout=0.5), "by chance"),
    "a merge of three": (model(type="BPE", merges=[["a", "b", "c"]]), UNREADABLE),
    "scores that are none": (unigram(vocab=[["a", "b"]]), UNREADABLE),
    "an infinite score": (unigram(vocab=[["a", float("inf")]]), UNREADABLE),
    "an unknown ID": (unigram(unk_id=10**9), UNREADABLE),
    # kinds and forms
    "an unknown kind": ({"normalizer": {"type": "Explode"}}, UNREADABLE),
    "a kind that is no text": ({"pre_tokenizer": {"type": [["Split"]]}}, UNREADABLE),
    "a model that is no object": ({"model": [1]}, UNREADABLE),
    "a table of characters that is none": (
        {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "\u00e9"}},
        UNREADABLE,
    ),
}
"""By name: what is changed in an honest file, and words of the refusal."""

HARMLESS = {
    "an added ID, which the library counts anew": {"added_tokens": [added(id=4 * 10**9)]},
    "rules inside rules": normalizers(normalizers({"type": "NFC"})["normalizer"]),
    "a pattern of nothing": split("a*"),
    "one that looks slow": split("(a*)*b"),
    "of GPT-2": split(
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    ),
}


@pytest.fixture
def write(tiny_root: Path, tmp_path: Path) -> Callable[[Rule], Path]:
    """Writes the tiny BERT's tokenizer with something changed."""
    plain = json.loads((tiny_root / "bert" / "tokenizer.json").read_text())

    def written(changes: Rule) -> Path:
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(plain | changes))
        return path

    return written


@pytest.mark.slow
@pytest.mark.parametrize(("changes", "words"), HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_file_is_refused_in_a_sentence_and_in_time(
    changes: Rule, words: str, write: Callable[[Rule], Path]
) -> None:
    begin = time.monotonic()
    with pytest.raises(RefusedError, match=words) as caught:
        try_tokenizer(write(changes))
    assert time.monotonic() - begin < SECONDS
    assert 10 < len(str(caught.value)) < 300
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("changes", HARMLESS.values(), ids=list(HARMLESS))
def test_what_only_looks_odd_is_let_in(changes: Rule, write: Callable[[Rule], Path]) -> None:
    try_tokenizer(write(changes))


@pytest.mark.parametrize("family", ["bert", "roberta", "albert"])
def test_honest_tokenizers_of_each_kind_pass(family: str, tiny_root: Path) -> None:
    try_tokenizer(tiny_root / family / "tokenizer.json")


def test_the_bundled_tokenizer_passes(bundled_folder: Path) -> None:
    try_tokenizer(bundled_folder / "tokenizer.json")


def test_a_tokenizer_is_tried_once(
    write: Callable[[Rule], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(model(vocab={"a": 10**9}))
    for executable in (sys.executable, "/nowhere/python"):
        monkeypatch.setattr(sys, "executable", executable)
        with pytest.raises(RefusedError, match="ID 1000000000"):
            try_tokenizer(path)
    path.write_text(path.read_text() + " ")
    with pytest.raises(RefusedError, match="no process could be started"):
        try_tokenizer(path)


def test_a_trial_that_does_not_end_is_ended(
    write: Callable[[Rule], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizer_trial, "_WAIT", 0.001)
    with pytest.raises(RefusedError, match="it took longer than"):
        try_tokenizer(write({"version": "1.0", "truncation": None}))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory has no such bound")
def test_what_fills_the_memory_is_stopped(write: Callable[[Rule], Path]) -> None:
    with pytest.raises(RefusedError, match=r"768 MB of memory .* did not come to a good end"):
        try_tokenizer(write(padding(strategy={"Fixed": 4 * 10**9})))
