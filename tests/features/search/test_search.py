"""The search against scikit-learn, its shares against the cosine, and its words on the page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize
from sentence_transformers.sentence_transformer.modules import Pooling
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis.separation import scaled
from contextlens.content.wording import number
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.store.about import indexing_of
from contextlens.corpus.store.store import Store
from contextlens.features.search.search import (
    Hit,
    SearchResult,
    explained,
    first,
    index_of,
    index_task,
    pooling_of,
    search,
    search_snippet,
    stored_task,
    texts_of,
)
from contextlens.jobs import Jobs
from contextlens.maps.vectors import RECIPE
from tests.core.spoiled import change_json
from tests.support.recipes import Open, with_recipe
from tests.support.snippets import run
from tests.support.tiny_models import N_DIMS

TEXTS = (
    "A bat hung from the ceiling of the cave.",
    "The animal shelter is closed today.",
    "He paid the bill at noon.",
    "An owl hunts at night.",
    "Shares fell by two per cent.",
    "The night train is late; the animal on the line has gone.",
    "She plays the violin.",
)
QUERY = "an animal that flies at night"


@pytest.fixture(scope="module")
def result(service: EncoderService) -> SearchResult:
    return searched(service, QUERY)


def means(texts: Sequence[str], service: EncoderService, model: str = BUNDLED_ID) -> np.ndarray:
    """(n_texts, n_dims) the mean of all tokens of each text."""
    states = [encoding.hidden[-1] for encoding in service.encode(model, list(texts))]
    return np.stack([state.mean(axis=0) for state in states])


def searched(service: EncoderService, query: str, texts: tuple[str, ...] = TEXTS) -> SearchResult:
    card = service.load(BUNDLED_ID)
    index = index_of(texts, means(texts, service))
    return search(index, query, texts_of(Corpus("mine", texts)), card, service)


def test_the_order_is_that_of_all_cosines_and_of_tf_idf(
    result: SearchResult, service: EncoderService
) -> None:
    vectors = means([QUERY, *TEXTS], service)
    cosines = cosine_similarity(vectors[:1], vectors[1:])[0]
    order = np.argsort(-cosines)[:5]
    assert [hit.index for hit in result.by_model] == order.tolist()
    np.testing.assert_allclose([h.cosine for h in result.by_model], cosines[order], atol=1e-5)
    assert [hit.rank for hit in result.by_model] == [1, 2, 3, 4, 5]
    words = TfidfVectorizer(stop_words=list(ENGLISH_STOP_WORDS - {"bill"})).fit(TEXTS)
    scores = cosine_similarity(words.transform([QUERY]), words.transform(TEXTS))[0]
    found = [h.index for h in result.by_words]
    assert set(found) == set(np.flatnonzero(scores))
    assert np.all(np.diff(scores[found]) <= 0)
    assert {row["text"] for row in result.rows()} >= {TEXTS[i] for i in found}


def test_the_shares_and_those_of_special_tokens_sum_to_the_similarity(
    result: SearchResult, service: EncoderService
) -> None:
    assert not any(hit.shares or hit.matches for hit in (*result.by_model, *result.by_words))
    (hit,) = explained(result.by_model[:1], result, service)
    asked, encoding = service.encode(BUNDLED_ID, [QUERY, hit.text])
    query = asked.hidden[-1].mean(axis=0)
    states = encoding.hidden[-1]
    length = np.linalg.norm(query) * np.linalg.norm(states.mean(axis=0))
    special = states[encoding.special_tokens_mask == 1] @ query / len(states) / length
    shares = sum(share for _, share in hit.shares)
    assert shares + special.sum() == pytest.approx(hit.cosine, abs=1e-5)
    assert hit.matches[0].cosine == max(match.cosine for match in hit.matches)


def test_the_same_word_matches_itself_best(service: EncoderService) -> None:
    found = searched(service, f"{TEXTS[3]} {TEXTS[3]}")
    (hit,) = explained(found.by_model[:1], found, service)
    assert len({match.query_word for match in hit.matches}) == len(hit.matches) == 3
    found = searched(service, TEXTS[3])
    (hit,) = explained(found.by_model[:1], found, service)
    assert (hit.text, round(hit.cosine, 4)) == (TEXTS[3], 1.0)
    assert all(match.query_word == match.text_word for match in hit.matches)


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("of the", ["nearest", "no_content"]),
        ("?!", ["nearest", "no_content"]),
        ("x", ["nearest", "no_word"]),
        ("\N{SLIGHTLY SMILING FACE}", ["unreadable"]),
        ("爱", ["unreadable"]),
        ("\u200b", ["unreadable"]),
        ("\N{GRINNING FACE} owl", ["nearest", "without_word"]),
        ("the bill of an owl", ["nearest", "without_word"]),
        ("القطط تنام", ["nearest", "no_word"]),
    ],
)
def test_what_is_said_of_odd_queries_is_so(
    service: EncoderService, query: str, keys: list[str]
) -> None:
    found = searched(service, query)
    claims = found.claims()
    assert [claim.key.removeprefix("search.") for claim in claims] == keys
    (tokens,) = service.tokenize(BUNDLED_ID, [query])
    own = [t for t, i in zip(tokens.tokens, tokens.text_ids, strict=True) if i >= 0]
    is_read = any(token != "[UNK]" for token in own)
    assert found.is_read == is_read == bool(found.by_model)
    assert (len(found.notes()) > 0) == (is_read and "[UNK]" in own)
    for hit in explained(found.by_model, found, service):
        shared = set(query.casefold().split()) & set(re.findall(r"\w+", hit.text.casefold()))
        assert (hit.word_score > 0) == bool(shared - {"the", "of", "an"})
        assert not {match.query_word for match in hit.matches} & {"\N{GRINNING FACE}"}


def test_a_word_that_the_model_cannot_read_is_found_by_words_alone(service: EncoderService) -> None:
    found = searched(service, "爱", (*TEXTS, "我爱你"))
    assert [hit.text for hit in found.by_words] == ["我爱你"]
    assert [str(claim) for claim in found.claims()] == [
        "The model cannot read this query.", "By words, **1** text is found."
    ]  # fmt: skip
    assert str(found.by_words[0].line(by_words=True)).startswith("TF-IDF 0.58")
    assert [row["cosine"] for row in found.rows()] == [None]
    assert not searched(service, "a", ("the", "of")).by_words
    alone = searched(service, "a bat", ("The owl",))
    assert str(alone.claims()[0]) == (
        f"The nearest text has a similarity of **{number(alone.by_model[0].cosine)}** to your "
        f"query (1: the same; a typical text here: {number(alone.median)})."
    )


@pytest.mark.parametrize("n", [0, 1, 3, 6, 9])
def test_the_first_are_those_of_a_whole_sort(n: int) -> None:
    scores = np.array([0.5, 0.9, 0.5, 0.1, 0.9, 0.5], np.float32)
    assert first(scores, n).tolist() == np.argsort(-scores, kind="stable")[:n].tolist()


def test_words_are_lit_by_their_share_and_text_is_escaped() -> None:
    text = "<b>one</b> & two"
    spans = (((3, 6), 0.2), ((13, 16), 0.4), ((0, 1), -0.1))
    hit = Hit(0, text, 0.5, 0.0, 1, 0, spans)
    drawn = hit.highlighted()
    assert "<b>" not in drawn
    assert "&lt;b&gt;" in drawn
    assert '28%, transparent)">one</span>' in drawn
    assert '55%, transparent)">two</span>' in drawn
    assert drawn.count("<span") == 2


def test_the_snippet_gives_the_same_similarities(
    result: SearchResult, service: EncoderService
) -> None:
    left = run(search_snippet(service.load(BUNDLED_ID), QUERY, TEXTS))
    for hit in (*result.by_model, *result.by_words):
        assert left["cosines"][hit.index] == pytest.approx(hit.cosine, abs=1e-5)
        assert left["tf_idf"][hit.index] == pytest.approx(hit.word_score, abs=1e-5)


E5 = {"query": "query: ", "passage": "the passage is: "}


@pytest.mark.parametrize(
    ("steps", "prompts", "default"),
    [
        ([Pooling(N_DIMS, "cls"), Normalize()], {}, None),
        ([Pooling(N_DIMS, "mean"), Normalize()], E5, None),
        ([Pooling(N_DIMS, "mean", include_prompt=False)], E5, "passage"),
        ([Pooling(N_DIMS, ("cls", "mean")), Dense(2 * N_DIMS, 9)], {"query": "find: "}, "query"),
        ([Pooling(N_DIMS, "mean"), Normalize()], {"document": "text: "}, None),
    ],
    ids=["BGE", "E5", "prompts left out", "linear", "document"],
)
def test_a_recipe_with_its_prompts_gives_sentence_transformers_order(
    steps: list[torch.nn.Module],
    prompts: dict[str, str],
    default: str | None,
    open_with: Open,
    tmp_path: Path,
) -> None:
    torch.manual_seed(3)
    with_recipe("bert", steps, open_with, tmp_path, max_seq_length=16)
    folder = tmp_path / "models" / "bert"
    path = folder / "config_sentence_transformers.json"
    change_json(path, prompts=prompts, default_prompt_name=default)
    service = open_with(model_folder=folder.parent)
    card = service.load("folder:bert")
    assert list(pooling_of(card).options) == [RECIPE, "mean"]
    corpus = Corpus("mine", TEXTS)
    task = index_task(corpus, card, service, pooling=RECIPE, token_seconds=0.0)
    index = Jobs(10**9).start(task).result(timeout=60)
    found = search(index, QUERY, texts_of(corpus), card, service, pooling=RECIPE)
    library = SentenceTransformer(str(folder), device="cpu")
    prompt = prompts.get("document", prompts.get("passage", ""))
    vectors = library.encode(list(TEXTS), prompt=prompt)
    cosines = cosine_similarity([library.encode_query(QUERY)], vectors)[0]
    expected = np.argsort(-cosines)[:5]
    np.testing.assert_allclose([h.cosine for h in found.by_model], cosines[expected], atol=1e-5)
    assert [hit.index for hit in found.by_model] == expected.tolist()
    has_shares = isinstance(steps[-1], Normalize) and steps[0].pooling_mode == "mean"  # type: ignore[union-attr]
    for hit in explained(found.by_model, found, service):
        assert bool(hit.shares) == has_shares
        words = {hit.text[slice(*span)] for span, _ in hit.shares}
        assert words <= set(re.findall(r"\w+|[^\w\s]", hit.text))
        assert not {m.text_word for m in hit.matches} & {"passage", "text"}
    ends = {"query": "query", "passage": "text", "document": "text"}
    keys = ["search.prompt." + "_and_".join(ends[name] for name in prompts)]
    assert [note.key for note in found.notes()] == (keys if prompts else [])
    left = run(found.snippet().replace("path/to/", f"{folder.parent}/"))
    np.testing.assert_allclose(left["cosines"], cosines[expected], atol=1e-5)


def test_a_recipe_that_is_the_mean_leaves_no_choice(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    assert list(pooling_of(card).options) == [RECIPE]
    assert list(pooling_of(replace(card, recipe=None)).options) == ["mean"]


@pytest.mark.slow
def test_a_stored_corpus_keeps_its_means_and_recomputes_what_is_more(
    open_with: Open, tmp_path: Path
) -> None:
    torch.manual_seed(3)
    steps = [Pooling(N_DIMS, ("cls", "mean")), Dense(2 * N_DIMS, 9)]
    service, model, library = with_recipe("bert", steps, open_with, tmp_path)
    card, store = service.load(model), Store(str(tmp_path / "corpora"))
    kept: list[bool] = []
    name = store.create(Corpus("mine", TEXTS), indexing_of(card, [card.n_layers], "exact")).name
    for pooling, expected in (
        (RECIPE, library.encode(list(TEXTS))),
        ("mean", means(TEXTS, service, model)),
        (RECIPE, library.encode(list(TEXTS))),
    ):
        task = stored_task(
            store.open(name), store, card, service, pooling=pooling, token_seconds=0.0
        )
        index = Jobs(10**9).start(task).result(timeout=60)
        lengths = np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(index.units, expected / lengths, atol=1e-3)
        kept.append(store.open(name).has_sentences)
    assert kept == [False, True, True]


@pytest.mark.parametrize("pooling", ["mean", RECIPE])
def test_texts_are_read_fast_and_the_query_exactly(
    fast_service: EncoderService, pooling: str
) -> None:
    card, corpus = fast_service.load(BUNDLED_ID), Corpus("mine", TEXTS)
    options = {"pooling": pooling, "token_seconds": 0.0}
    fast = index_task(corpus, card, fast_service, precision="fast", **options)
    exact = index_task(corpus, card, fast_service, **options)
    assert fast.key != exact.key
    indexes = [Jobs(10**9).start(task).result(timeout=60) for task in (fast, exact)]
    units, exact_units = (index.units for index in indexes)
    assert indexes[1].fast is None
    assert 1e-6 < np.abs(units - exact_units).max() < 0.01
    texts = texts_of(corpus)
    found, plain = (
        search(index, QUERY, texts, card, fast_service, pooling=pooling) for index in indexes
    )
    assert (found.passport.precision, plain.passport.precision) == ("fast", "exact")
    assert found.passport.cosine_errors is not None
    query = scaled(means([QUERY], fast_service))[0]
    code = found.snippet()
    assert ("bfloat16" in code, "bfloat16" in plain.snippet()) == (True, False)
    order = [hit.index for hit in found.by_model]
    cosines = run(code)["cosines"]
    np.testing.assert_allclose(cosines, units[order] @ query, atol=0.005)
    assert np.abs(cosines - exact_units[order] @ query).max() > 1e-5


def test_a_stored_corpus_keeps_means_as_precise_as_its_index(
    fast_service: EncoderService, tmp_path: Path
) -> None:
    card, store = fast_service.load(BUNDLED_ID), Store(str(tmp_path / "corpora"))
    name = store.create(Corpus("mine", TEXTS), indexing_of(card, [card.n_layers], "fast")).name
    keys = []
    for exact in (True, False):
        task = stored_task(
            store.open(name), store, card, fast_service, exact=exact, token_seconds=0.0
        )
        keys.append(task.key)
        index = Jobs(10**9).start(task).result(timeout=60)
        assert (index.fast is None) == exact
        assert store.open(name).has_sentences == (not exact)
    assert keys[0] != keys[1]
