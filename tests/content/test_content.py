from __future__ import annotations

import re
from importlib import import_module
from pkgutil import walk_packages

import pytest
from streamlit.material_icon_names import ALL_MATERIAL_ICONS

from contextlens import features
from contextlens.content.examples import EXAMPLES, Example, ExampleSentence
from contextlens.content.glossary import GLOSSARY
from contextlens.content.language import table
from contextlens.core.words import find_word, split_words
from contextlens.maps.request import METHODS

MODULES = [
    import_module(found.name)
    for found in walk_packages(features.__path__, f"{features.__name__}.")
    if not found.ispkg
]


def formulas() -> dict[str, str]:
    """The formulas of the features, by constant; where one has several, by their keys too."""
    found = {}
    for module in MODULES:
        for name, own in vars(module).items():
            if re.fullmatch(r"([A-Z_]+_)?FORMULA", name):
                key = f"{module.__name__.split('features.')[1]}.{name}"
                several = (
                    {key: own} if isinstance(own, str) else {f"{key}.{k}": own[k] for k in own}
                )
                found |= {key: text.strip() for key, text in several.items()}
    return found


FORMULAS = formulas()
EXPLANATIONS = {
    **FORMULAS,
    **{f"{e.key}.title": e.title for e in EXAMPLES},
    **{f"{e.key}.question": e.question.text for e in EXAMPLES},
    **{f"glossary[{term}]": meaning for term, meaning in GLOSSARY.items()},
}
by_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)


def places(sentences: tuple[ExampleSentence, ...]) -> set[int]:
    """The places of the chosen words among the words of their sentences."""
    spans = [(s.text, find_word(s.text, s.word or "", s.occurrence)) for s in sentences]
    return {split_words(text).index(span) for text, span in spans if span}


# The examples


def test_the_first_example_is_the_two_pythons():
    first = EXAMPLES[0]
    assert first.sentences == (
        ExampleSentence("I love my pet python", "python"),
        ExampleSentence("I love coding in python", "python"),
    )
    assert [r.text for r in first.references] == ["snake", "programming"]


def test_there_are_six_examples_and_more_with_keys_of_their_own():
    assert len(EXAMPLES) >= 6
    assert len({e.key for e in EXAMPLES}) == len(EXAMPLES)
    assert len({e.title for e in EXAMPLES}) == len(EXAMPLES)
    assert all(re.fullmatch(r"[a-z][a-z0-9_-]*", e.key) for e in EXAMPLES)


def test_the_example_of_capital_letters_has_two_words_that_differ_in_nothing_else():
    (case,) = (e for e in EXAMPLES if e.key == "case")
    first, second = (s.word or "" for s in case.sentences)
    assert first != second
    assert first.casefold() == second.casefold()


@by_example
def test_every_chosen_word_is_found_as_it_is_written(example: Example):
    for sentence in (*example.sentences, *example.references):
        assert sentence.word is not None
        span = find_word(sentence.text, sentence.word, sentence.occurrence)
        assert span is not None
        assert sentence.text[slice(*span)] == sentence.word


@by_example
def test_an_example_fits_the_page(example: Example):
    assert 2 <= len(example.sentences) <= 8
    assert len(set(example.sentences)) == len(example.sentences)
    assert example.references
    question = example.question
    places = {question.word, *question.others}
    assert question.text.endswith("?")
    assert len(set(question.options)) == len(places) - 1 == 2
    assert places <= set(range(len(example.sentences) + len(example.references)))
    assert question.right in (0, 1)
    assert example.icon.removeprefix(":material/").removesuffix(":") in ALL_MATERIAL_ICONS


@pytest.mark.parametrize("key", ["python", "bank", "bat", "negation", "case"])
def test_where_context_is_the_question_the_words_stand_at_one_place(key: str):
    (example,) = (e for e in EXAMPLES if e.key == key)
    assert len(places(example.sentences)) == 1


def test_the_example_of_word_order_has_the_same_words_in_another_order():
    (example,) = (e for e in EXAMPLES if e.key == "order")
    first, second, *_ = (s.text.casefold().split() for s in example.sentences)
    assert first != second
    assert sorted(first) == sorted(second)


# The explanations


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_explanations_are_calm_and_in_plain_characters(name: str):
    text = EXPLANATIONS[name]
    assert text == text.strip()
    assert text.replace("−", "").isascii()
    assert "!" not in text
    assert not re.search(r"<[a-zA-Z/]", text)


@pytest.mark.parametrize("term", GLOSSARY)
def test_a_term_has_one_sentence(term: str):
    meaning = GLOSSARY[term]
    assert meaning.endswith(".")
    assert ". " not in meaning
    assert meaning[0].isupper()
    assert len(meaning) <= 200


def test_every_method_of_a_map_is_explained():
    assert table("map.methods").keys() == {*METHODS, "misread", "linked"}


@pytest.mark.parametrize("page", ["map", "senses", "corpora", "pairs"])
def test_a_limit_is_one_sentence(page: str):
    limits = table(page)["limits"]
    assert len(re.findall(r"\.(?:\s|$)", limits)) == 1
    assert "\n" not in limits


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS.keys())
def test_a_formula_is_closed_latex(formula: str):
    without_blocks = re.sub(r"\$\$[^$]+\$\$", "", formula)
    assert "$$" not in without_blocks
    assert without_blocks.count("$") % 2 == 0
    for block in re.findall(r"\$\$([^$]+)\$\$", formula):
        # Over several lines Markdown takes a block for LaTeX only where its signs stand alone.
        assert "\n" not in block or block[0] == block[-1] == "\n", block
    for line in formula.splitlines():  # broken otherwise, the page shows its source in red
        assert line.strip() == "$$" or line.count("$$") in (0, 2), line
    for latex in re.findall(r"\$\$?([^$]+)\$", formula):
        assert latex.count("{") == latex.count("}"), latex
