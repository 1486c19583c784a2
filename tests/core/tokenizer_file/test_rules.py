"""What a tokenizer.json may say, and each way of saying too much."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from components.core.tokenizer_file import RefusedError, check_rules, check_vocabulary
from tests.support.tiny_models import FAMILIES

Tokenizer = dict[str, Any]


def sequence(part: str, rules: list[Any]) -> dict[str, Any]:
    names = {"normalizer": "normalizers", "pre_tokenizer": "pretokenizers", "decoder": "decoders"}
    return {part: {"type": "Sequence", names[part]: rules}}


def replace(text: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


def split(pattern: Any) -> dict[str, Any]:
    return {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}


def template(**changes: Any) -> dict[str, Any]:
    text, other = {"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}
    plain = {"single": [text], "pair": [text, other], "special_tokens": {}}
    return {"post_processor": {"type": "TemplateProcessing", **plain, **changes}}


def charsmap(texts: bytes, n_trie: int = 4) -> str:
    return base64.b64encode(n_trie.to_bytes(4, "little") + b"\0" * n_trie + texts).decode()


def nested(depth: int) -> dict[str, Any]:
    rule: dict[str, Any] = {"type": "NFC"}
    for _ in range(depth):
        rule = {"type": "Sequence", "normalizers": [rule]}
    return rule


A = {"Sequence": {"id": "A", "type_id": 0}}
BOMBS: dict[str, dict[str, Any]] = {
    "twenty rules that double": sequence("normalizer", [replace("a", "aa")] * 20),
    "five that double": sequence("normalizer", [replace("a", "aa")] * 5),
    "one long replacement": {"normalizer": replace("a", "b" * 65)},
    "a replacement for nothing": {"normalizer": replace("", "b")},
    "many in front": sequence("normalizer", [{"type": "Prepend", "prepend": "ab"}] * 3),
    "one long in front": {"normalizer": {"type": "Prepend", "prepend": "a" * 1000}},
    "a decoder that grows": sequence("decoder", [replace("a", "aa")] * 20),
    "33 rules": sequence("normalizer", [{"type": "NFC"}] * 33),
    "rules inside rules": {"normalizer": nested(5)},
    "an unknown kind": {"normalizer": {"type": "Explode"}},
    "no kind": {"normalizer": {"normalizers": []}},
    "a kind that is no text": {"pre_tokenizer": {"type": ["Split"]}},
    "a slow pattern": {"pre_tokenizer": split({"Regex": "(x+x+)+y"})},
    "a slow pattern in a normalizer": {
        "normalizer": {"type": "Replace", "pattern": {"Regex": "a+b"}, "content": ""}
    },
    "a slow pattern in a decoder": sequence(
        "decoder", [{"type": "Replace", "pattern": {"Regex": "(a*)*b"}, "content": ""}]
    ),
    "a pattern of no kind": {"pre_tokenizer": split("a")},
    "a slow pattern deep inside": sequence(
        "pre_tokenizer",
        [{"type": "Sequence", "pretokenizers": [split({"Regex": "(a|aa)+$"})]}],
    ),
    "a map to a long text": {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap(b"x" * 200)}
    },
    "a map that is none": {"normalizer": {"type": "Precompiled", "precompiled_charsmap": "?"}},
    "a map that breaks off": {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap(b"")}
    },
    "maps of maps": sequence(
        "normalizer",
        [{"type": "Precompiled", "precompiled_charsmap": charsmap(b"ab\0")}] * 2,
    ),
    "a text doubled": template(single=[A, A]),
    "a text left out": template(single=[]),
    "a long template": template(single=[A, *[{"SpecialToken": {"id": "x", "type_id": 0}}] * 99]),
    "a segment": template(single=[{"Sequence": {"id": "A", "type_id": 4 * 10**9}}]),
    "a special ID": template(special_tokens={"x": {"id": "x", "ids": [10**9], "tokens": ["x"]}}),
    "many special IDs": template(special_tokens={"x": {"id": "x", "ids": [0] * 99}}),
    "an ID in a pair": {"post_processor": {"type": "BertProcessing", "sep": ["x", -1]}},
    "padding": {"padding": {"strategy": {"Fixed": 4 * 10**9}}},
    "padding to multiples": {"padding": {"strategy": "BatchLongest", "pad_to_multiple_of": 10**9}},
    "truncation": {"truncation": {"max_length": 10**12}},
    "an added ID": {"added_tokens": [{"id": 4 * 10**9, "content": "x"}]},
    "an added text": {"added_tokens": [{"id": 0, "content": "x" * 1000}]},
    "many added": {"added_tokens": [{"id": 0, "content": "x"}] * 20_001},
}
MODELS: dict[str, dict[str, Any]] = {
    "an ID of 4 thousand million": {"vocab": {"a": 0, "b": 4 * 10**9}},
    "an ID below 0": {"vocab": {"a": -1}},
    "an ID that is no number": {"vocab": {"a": "0"}},
    "an ID that is true": {"vocab": {"a": True}},
    "no vocabulary": {"vocab": {}},
    "a long piece": {"vocab": {"a" * 1000: 0}},
    "a long prefix": {"continuing_subword_prefix": "#" * 1000},
    "long words": {"max_input_chars_per_word": 10**6},
    "chance": {"type": "BPE", "dropout": 0.5, "merges": []},
    "a merge of three": {"type": "BPE", "merges": [["a", "b", "c"]]},
    "scores": {"type": "Unigram", "vocab": [["a", "b"]]},
    "an infinite score": {"type": "Unigram", "vocab": [["a", float("inf")]]},
    "an unknown ID": {"type": "Unigram", "vocab": [["a", 0.0]], "unk_id": 10**9},
    "another kind": {"type": "Other"},
}


@pytest.fixture
def plain(tiny_root: Path) -> Tokenizer:
    found: Tokenizer = json.loads((tiny_root / "bert" / "tokenizer.json").read_text())
    return found


def assert_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(RefusedError) as caught:
        check_rules(tokenizer, 300)
    assert 10 < len(str(caught.value)) < 300


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_s_own_tokenizer_is_let_in(family: str, tiny_root: Path) -> None:
    tokenizer = json.loads((tiny_root / family / "tokenizer.json").read_text())
    n_pieces = len(tokenizer["model"]["vocab"])
    assert check_rules(tokenizer, 0) == n_pieces + len(tokenizer["added_tokens"])
    del tokenizer["model"]["type"]  # as in files from before it was written
    check_rules(tokenizer, 0)


def test_the_bundled_tokenizer_is_let_in(bundled_folder: Path) -> None:
    assert check_rules(json.loads((bundled_folder / "tokenizer.json").read_text()), 30_522) > 30_521


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=list(BOMBS))
def test_rules_that_ask_too_much_are_refused(bomb: Tokenizer, plain: Tokenizer) -> None:
    check_rules(copy.deepcopy(plain), 300)
    assert_refused(plain | bomb)


@pytest.mark.parametrize("bomb", MODELS.values(), ids=list(MODELS))
def test_vocabularies_that_ask_too_much_are_refused(bomb: Tokenizer, plain: Tokenizer) -> None:
    model = plain["model"] | bomb
    assert_refused(plain | {"model": model, "added_tokens": [], "post_processor": None})


@pytest.mark.parametrize(
    "rules",
    [
        [replace("``", '"'), replace("''", '"'), {"type": "NFKD"}, {"type": "Lowercase"}],
        [{"type": "Prepend", "prepend": "▁"}, replace(" ", "▁")],
        [
            {"type": "Precompiled", "precompiled_charsmap": charsmap("ﬁ\0fi\0".encode())},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
        ],
        [replace("œ", "oe"), replace("æ", "ae")],
    ],
)
def test_published_normalizers_are_let_in(rules: list[Any], plain: Tokenizer) -> None:
    check_rules(plain | sequence("normalizer", rules), 300)


@pytest.mark.parametrize("part", ["model", "added_tokens", "padding", "post_processor", "decoder"])
@pytest.mark.parametrize("value", [5, "x", [1], {"type": 3}, {"a": {"b": []}}, True], ids=str)
def test_a_part_of_another_form_is_refused_or_harmless(
    part: str, value: Any, plain: Tokenizer
) -> None:
    try:
        check_rules(plain | {part: value}, 300)
    except RefusedError as exc:
        assert str(exc)  # noqa: PT017 - some forms say nothing that is read


@pytest.mark.parametrize(
    ("pieces", "lists", "limit"),
    [({"a": 0, "b": 1}, [b"a b"], 2), (None, [b"a\nb\nc"], 3), (None, [b""], 1)],
)
def test_vocabularies_in_files_of_their_own_are_counted(
    pieces: dict[str, Any] | None, lists: list[bytes], limit: int
) -> None:
    assert check_vocabulary(pieces, lists) == limit


@pytest.mark.parametrize(
    "given",
    [
        lambda: check_vocabulary(None, [b"\n" * 1_000_001]),
        lambda: check_vocabulary(None, [b"a" * 5000]),
        lambda: check_vocabulary({"a" * 5000: 1}, []),
    ],
)
def test_vocabularies_in_files_of_their_own_are_bounded(given: Callable[[], int]) -> None:
    with pytest.raises(RefusedError):
        given()
