"""The snippet is run as a reader would run it, and must give the page's curve."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.corpus.live import LiveCorpus
from contextlens.features.senses.compute import Senses, concordance_rows, senses_in, snippet_rows
from contextlens.features.senses.snippet import PICTURE, separation_snippet
from contextlens.ui.widgets.export import to_csv
from tests.support.senses import senses_view
from tests.support.snippets import drawn, run
from tests.support.texts import AWKWARD
from tests.support.tiny_models import FAMILIES


def shown(service: EncoderService, corpus: LiveCorpus, word: str) -> Senses:
    own = senses_in(corpus, senses_view(word=word), service)
    assert isinstance(own, Senses)
    return own


def assert_same(code: str, own: Senses) -> None:
    names = run(code)
    assert list(drawn(PICTURE, names).data[0].y) == names["accuracy"]
    assert names["accuracy"] == pytest.approx([each.accuracy for each in own.course.curve])


@pytest.mark.slow
def test_the_snippet_gives_the_bundled_words_curve(service: EncoderService) -> None:
    own = shown(service, LiveCorpus(ambiguous_corpus(), service, BUNDLED_ID), "pitch")
    assert len(own.uses.trial.senses) > 2
    code = separation_snippet(service.load(BUNDLED_ID), snippet_rows(own.uses))
    assert_same(code, own)
    assert "contextlens" not in code
    assert "from transformers import AutoModel, AutoTokenizer" in code


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_awkward_texts_and_a_split_are_written_so_that_python_reads_them(
    tiny_service: EncoderService, tiny_root: Path, family: str
) -> None:
    texts = tuple(f"python {text}" for text in AWKWARD.values())
    labels = {
        "sense": tuple(("a", 'b"', "")[i % 3] for i in range(len(texts))),
        "split": tuple(("train", "test", "dev", "train")[i % 4] for i in range(len(texts))),
    }
    model = f"folder:{family}"
    corpus = LiveCorpus(Corpus("t", texts, labels), tiny_service, model, split="split")
    own = shown(tiny_service, corpus, "python")
    assert own.uses.trial.how == "split"
    code = separation_snippet(tiny_service.load(model), snippet_rows(own.uses))
    assert all(character.isprintable() or character == "\n" for character in code)
    assert_same(code.replace(f"path/to/{family}", str(tiny_root / family)), own)


@pytest.mark.slow
def test_many_occurrences_come_from_the_pages_download(
    tiny_service: EncoderService,
    tiny_root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("contextlens.features.senses.snippet.MAX_ROWS", 30)
    texts = tuple(f"{'my pet' if i % 2 else 'in my'} python {i}" for i in range(32))
    labels = {"sense": tuple("ab"[i % 2] for i in range(len(texts)))}
    corpus = LiveCorpus(Corpus("t", texts, labels), tiny_service, "folder:bert")
    own = shown(tiny_service, corpus, "python")
    rows = concordance_rows(own.uses, own.grouping.groups, own.cosines)
    passport = tiny_service.encode("folder:bert", ["a"])[0].passport
    (tmp_path / "senses.csv").write_bytes(to_csv(rows, passport))
    monkeypatch.chdir(tmp_path)
    code = separation_snippet(tiny_service.load("folder:bert"), snippet_rows(own.uses))
    assert len(code) < 5_000
    assert_same(code.replace("path/to/bert", str(tiny_root / "bert")), own)


def test_a_model_from_the_hub_is_named_with_its_commit(tiny_service: EncoderService) -> None:
    card = replace(tiny_service.load("folder:bert"), source="hub", id="a/b", revision="1234")
    code = separation_snippet(card, [])
    assert code.count('revision="1234"') == 2
    assert max(map(len, code.splitlines())) <= 100
