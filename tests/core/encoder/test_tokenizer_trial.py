"""A foreign tokenizer is tried in a process of its own, and what it does there decides."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from components.core.encoder.tokenizer_trial import Bounds, bounds_for, try_tokenizer
from components.core.tokenizer_file import RefusedError
from tests.support.tiny_models import FAMILIES

QUICK = Bounds(megabytes=768, seconds=1, wait_seconds=120)


@pytest.fixture
def write(tiny_root: Path, tmp_path: Path) -> Any:
    """Writes the tiny BERT's tokenizer with something changed."""

    def written(**changes: Any) -> Path:
        plain = json.loads((tiny_root / "bert" / "tokenizer.json").read_text())
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(plain | changes))
        return path

    return written


def replace(text: str, content: str) -> dict[str, Any]:
    return {"type": "Replace", "pattern": {"String": text}, "content": content}


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_s_own_tokenizer_passes(family: str, tiny_root: Path) -> None:
    try_tokenizer(tiny_root / family / "tokenizer.json", 500)


def test_a_tokenizer_is_tried_once(write: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(truncation=None, version="1.0")
    try_tokenizer(path, 500)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    try_tokenizer(path, 500)
    path.write_text(path.read_text() + " ")
    with pytest.raises(RefusedError, match="no process could be started"):
        try_tokenizer(path, 500)


@pytest.mark.slow
def test_a_pattern_that_takes_too_long_is_stopped(write: Any) -> None:
    slow = {"type": "Split", "pattern": {"Regex": "a+b"}, "behavior": "Isolated", "invert": False}
    with pytest.raises(RefusedError, match="1 seconds its process did not come to a good end"):
        try_tokenizer(write(pre_tokenizer=slow), 500, QUICK)


@pytest.mark.slow
def test_a_trial_that_does_not_end_is_ended(write: Any) -> None:
    slow = {"type": "Split", "pattern": {"Regex": "a+c"}, "behavior": "Isolated", "invert": False}
    with pytest.raises(RefusedError, match="longer than 1 seconds"):
        try_tokenizer(write(pre_tokenizer=slow), 500, Bounds(768, 600, 1.0))


def test_a_pattern_that_panics_is_told(write: Any) -> None:
    slow = {"type": "Replace", "pattern": {"Regex": "(a+a+)+b"}, "content": "x"}
    with pytest.raises(RefusedError, match="fails on a text"):
        try_tokenizer(write(normalizer=slow), 500)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory has no such bound")
def test_rules_that_fill_the_memory_are_stopped(write: Any) -> None:
    rules = {"type": "Sequence", "normalizers": [replace("a", "aa")] * 20}
    with pytest.raises(RefusedError, match="did not come to a good end"):
        try_tokenizer(write(normalizer=rules), 500, Bounds(400, 60, 300))


def test_more_tokens_than_characters_are_told(write: Any) -> None:
    rules = {"type": "Sequence", "normalizers": [replace("a", "a " * 60)]}
    with pytest.raises(RefusedError, match=r"makes [0-9,]+ tokens of [0-9,]+ characters"):
        try_tokenizer(write(normalizer=rules), 500)


def test_an_id_past_the_limit_is_told(write: Any) -> None:
    with pytest.raises(RefusedError, match="its largest is 1"):
        try_tokenizer(write(padding=None), 2)


def test_what_cannot_be_read_is_told(write: Any) -> None:
    with pytest.raises(RefusedError, match="cannot be read"):
        try_tokenizer(write(model={"type": "WordPiece"}), 500)


def test_bounds_grow_with_the_file_up_to_a_limit() -> None:
    small, large, huge = map(bounds_for, (500_000, 17_000_000, 10**9))
    assert small.megabytes < large.megabytes < huge.megabytes == 3072
    assert small.seconds < large.seconds
