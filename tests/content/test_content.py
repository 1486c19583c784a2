from __future__ import annotations

import re
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from pkgutil import iter_modules

import pytest
from streamlit.material_icon_names import ALL_MATERIAL_ICONS

from components import features
from components.content.bundled_texts import baseline_sentences
from components.content.examples import EXAMPLES, Example, ExampleSentence
from components.content.glossary import GLOSSARY
from components.content.language import table
from components.core.words import find_word, split_words
from components.maps.projection import METHODS

EXPLAIN = [
    import_module(f"{features.__name__}.{page.name}.explain")
    for page in iter_modules(features.__path__)
    if find_spec(f"{features.__name__}.{page.name}.explain")
]


def named(constant: str) -> dict[str, str]:
    """A constant of every page's `explain`, by page; where it has one for each look, by both."""
    found = {}
    for module in EXPLAIN:
        own = getattr(module, constant, {})
        page = module.__name__.split(".")[-2]
        looks = {page: own} if isinstance(own, str) else {f"{page}.{k}": v for k, v in own.items()}
        found.update(looks)
    return found


FORMULAS = named("FORMULA")
EXPLANATIONS = {
    **{
        f"{module.__name__}.{name}": getattr(module, name)
        for module in EXPLAIN
        for name in module.__all__
        if isinstance(getattr(module, name), str)
    },
    **{f"{e.key}.title": e.title for e in EXAMPLES},
    **{f"{e.key}.question": e.question for e in EXAMPLES},
    **{f"{e.key}.look_for": e.look_for for e in EXAMPLES},
    **{f"glossary[{term}]": meaning for term, meaning in GLOSSARY.items()},
}
by_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.key)


def words(text: str) -> list[str]:
    return [w.casefold() for a, b in split_words(text) if (w := text[a:b])[0].isalnum()]


def n_grams(text: str, n: int) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[i : i + n]) for i in range(len(found) - n + 1)}


def places(sentences: tuple[ExampleSentence, ...]) -> set[int]:
    """The places of the chosen words among the words of their sentences."""
    spans = [(s.text, find_word(s.text, s.word or "", s.occurrence)) for s in sentences]
    return {split_words(text).index(span) for text, span in spans if span}


# The sample


def test_the_sample_has_at_least_200_different_sentences_and_is_read_once():
    sample = baseline_sentences()
    assert len(sample) >= 200
    assert len({" ".join(words(s)) for s in sample}) == len(sample)
    assert baseline_sentences() is sample


def test_sample_sentences_are_plain_ascii_without_stray_white_space():
    for sentence in baseline_sentences():
        assert sentence.isascii(), sentence
        assert sentence == " ".join(sentence.split()), sentence


def test_sample_sentences_are_of_all_lengths_between_4_and_40_words():
    lengths = [len(words(s)) for s in baseline_sentences()]
    assert min(lengths) >= 4
    assert max(lengths) <= 40
    for low, high, at_least in ((4, 7, 20), (8, 12, 40), (13, 20, 30), (21, 40, 15)):
        assert sum(low <= n <= high for n in lengths) >= at_least, (low, high)


def test_the_sample_uses_many_words_and_repeats_no_phrase():
    sample = baseline_sentences()
    assert len({w for s in sample for w in words(s)}) >= 1500
    five_grams = Counter(g for s in sample for g in n_grams(s, 5))
    assert max(five_grams.values()) <= 2
    three_grams = Counter(g for s in sample for g in n_grams(s, 3))
    assert max(three_grams.values()) <= 4


def test_sample_sentences_open_differently():
    openings = Counter(tuple(words(s)[:2]) for s in baseline_sentences())
    assert max(openings.values()) <= 2
    first_words = Counter(words(s)[0] for s in baseline_sentences())
    assert max(first_words.values()) <= len(baseline_sentences()) / 8


def test_no_two_sample_sentences_are_nearly_the_same():
    bags = [set(words(s)) for s in baseline_sentences()]
    assert max(len(a & b) / len(a | b) for a, b in combinations(bags, 2)) < 0.4


def test_few_sample_sentences_share_a_content_word():
    uses = Counter(w for s in baseline_sentences() for w in set(words(s)) if len(w) >= 7)
    assert max(uses.values()) <= 5


# The examples


def test_the_first_example_is_the_two_pythons():
    first = EXAMPLES[0]
    assert first.sentences == (
        ExampleSentence("I love my pet python", "python"),
        ExampleSentence("I love coding in python", "python"),
    )
    assert [r.text for r in first.references] == ["snake", "programming"]
    assert first.model is None


def test_there_are_six_examples_and_more_with_keys_of_their_own():
    assert len(EXAMPLES) >= 6
    assert len({e.key for e in EXAMPLES}) == len(EXAMPLES)
    assert len({e.title for e in EXAMPLES}) == len(EXAMPLES)
    assert all(re.fullmatch(r"[a-z][a-z0-9_-]*", e.key) for e in EXAMPLES)


def test_the_example_of_capital_letters_asks_for_a_cased_model():
    assert [e.model for e in EXAMPLES if e.model] == ["google-bert/bert-base-cased"]
    (case,) = (e for e in EXAMPLES if e.model)
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
    assert example.question.endswith("?")
    assert example.look_for.endswith(".")
    assert example.look_for.count(". ") == 0
    assert example.icon.removeprefix(":material/").removesuffix(":") in ALL_MATERIAL_ICONS


@pytest.mark.parametrize("key", ["python", "bank", "bat", "negation", "case"])
def test_where_context_is_the_question_the_words_stand_at_one_place(key: str):
    (example,) = (e for e in EXAMPLES if e.key == key)
    assert len(places(example.sentences)) == 1


def test_the_example_of_word_order_has_the_same_words_in_another_order():
    (example,) = (e for e in EXAMPLES if e.key == "order")
    first, second, *_ = (words(s.text) for s in example.sentences)
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


def test_the_glossary_has_the_terms_that_the_first_pages_use():
    assert {
        "cosine similarity", "layer", "hidden state", "token", "sub-token", "embedding layer",
        "attention mask", "padding", "pooling", "centred cosine", "random-pair baseline",
        "static vector", "special token", "[CLS]", "[SEP]", "word vector",
    } <= GLOSSARY.keys()  # fmt: skip


def test_the_glossary_has_the_terms_of_the_map():
    assert {
        "map", "full space", "UMAP", "PCA", "t-SNE", "trustworthiness", "continuity",
        "neighbour recall", "true neighbours", "joint fit", "aligned fit", "seed",
        "Procrustes disparity", "cluster label",
    } <= GLOSSARY.keys()  # fmt: skip


def test_every_method_of_a_map_is_explained():
    assert table("map.methods").keys() == {*METHODS, "misread"}
    assert table("map.layer_maps").keys() == {"joint", "aligned"}


def test_the_formula_of_the_map_says_what_chance_gives():
    assert "chance" in FORMULAS["map"]
    assert "cross-entropy" in FORMULAS["map"]


def test_the_glossary_cannot_be_changed():
    with pytest.raises(TypeError):
        GLOSSARY["token"] = "something else"  # type: ignore[index]


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
    for latex in re.findall(r"\$\$?([^$]+)\$", formula):
        assert latex.count("{") == latex.count("}"), latex


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS.keys())
def test_a_displayed_formula_stands_on_one_line_or_between_marks_of_their_own(formula: str):
    """Broken otherwise, the page shows its source in red."""
    for line in formula.splitlines():
        assert line.strip() == "$$" or line.count("$$") in (0, 2), line


def test_the_formula_of_meaning_in_context_defines_the_baseline():
    assert "5th" in FORMULAS["meaning"]
    assert "95th" in FORMULAS["meaning"]
    assert "different sentences" in FORMULAS["meaning"]
