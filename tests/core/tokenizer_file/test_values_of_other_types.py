"""Values of a type that nobody expects there, as fuzzing found them, are refused in words."""

from __future__ import annotations

from typing import Any

import pytest

from components.core.tokenizer_file import RefusedError, allowed_settings, check_rules

ODD: list[Any] = [[], {}, [[]], {"type": "Sequence"}, 0, 1.5, True]


@pytest.mark.parametrize("part", ["normalizer", "pre_tokenizer", "decoder", "post_processor"])
@pytest.mark.parametrize("kind", ODD, ids=repr)
def test_the_kind_of_a_rule(part: str, kind: Any) -> None:
    model = {"type": "WordPiece", "vocab": {"a": 0}}
    with pytest.raises(RefusedError, match=f"its {part} is of a kind that is not read here"):
        check_rules({"model": model, part: {"type": kind}}, 1)


@pytest.mark.parametrize("name", ["errors", "padding_side", "truncation_side"])
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_a_setting_that_is_one_of_a_few_words(name: str, value: Any) -> None:
    with pytest.raises(RefusedError, match=f"it says {name} is .*; it must be "):
        allowed_settings({name: value}, 1)


@pytest.mark.parametrize("name", ["Strange", "x" * 500, 7, ["BertTokenizer"]], ids=repr)
def test_a_class_that_is_not_read_here_is_refused_in_a_sentence_that_can_be_read(name: Any) -> None:
    with pytest.raises(RefusedError, match="it asks for the class") as caught:
        allowed_settings({"tokenizer_class": name}, 1)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("value", ["id", "A", 1, [], None, ["id"]], ids=repr)
def test_a_text_in_the_template_around_a_text(value: Any) -> None:
    template = {
        "type": "TemplateProcessing",
        "single": [{"Sequence": value}],
        "pair": [{"Sequence": {"id": "A"}}, {"Sequence": {"id": "B"}}],
    }
    model = {"type": "WordPiece", "vocab": {"a": 0}}
    with pytest.raises(RefusedError, match="what it puts around a text"):
        check_rules({"model": model, "post_processor": template}, 1)


@pytest.mark.parametrize("table", ["é", "\ud800", "====", "a", 7, ["AAAA"]], ids=ascii)
def test_a_table_of_characters_that_is_none(table: Any) -> None:
    model = {"type": "WordPiece", "vocab": {"a": 0}}
    rule = {"type": "Precompiled", "precompiled_charsmap": table}
    with pytest.raises(RefusedError, match="its table of characters is damaged"):
        check_rules({"model": model, "normalizer": rule}, 1)
