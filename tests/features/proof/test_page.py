"""Proof, headless: green at first sight, a benchmark's file, bad files, downloads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.core import BUNDLED_ID
from contextlens.core.schema import Passport
from contextlens.features.proof.compute import ProofResult, as_json
from contextlens.features.proof.controls import PAGE, WHAT
from contextlens.features.proof.reading import proof_claims, proof_details
from contextlens.proof.checks import Check
from contextlens.ui.files.uploads import forget_all
from contextlens.ui.state.view import DEFAULT
from tests.support.fields import field
from tests.support.pages import bundled_app, chart, framed, reading, settled

N = 24


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


@pytest.fixture(autouse=True)
def _no_files() -> None:
    forget_all()


def opened(what: str) -> AppTest:
    return settled(framed(WHAT.put(DEFAULT, what), PAGE))


def upload(app: AppTest, key: str, content: bytes) -> AppTest:
    uploader = field(app.file_uploader, key)
    return settled(uploader.set_value(("mine.csv", content, "text/csv")).run())


def table(*rows: tuple[str, ...]) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue().encode()


def scored(n: int) -> bytes:
    rows = [(f"Text number {i}", f"Text number {i // 2}", f"{i % 5}.5") for i in range(n)]
    return table(("sentence1", "sentence2", "score"), *rows)


@pytest.mark.slow
def test_the_installation_is_green_at_first_sight() -> None:
    app = opened("ready")
    assert not app.error
    claims = reading(app).replace("*", "")
    assert "9 of 9 checks agree. One more is for another model, bert-base-uncased." in claims
    assert len(chart(app, "proof_chart")["data"][0]["y"]) == 9  # as many rows as are counted
    assert say("proof.base.away", megabytes=441) in [c.value for c in app.caption]


def test_a_file_of_scored_pairs_gets_its_figure() -> None:
    app = upload(opened("stsb"), "proof_stsb_upload", scored(N))
    assert not app.error
    assert "is for other rows" in reading(app)
    assert chart(app, "proof_chart")


def test_a_file_in_another_format_is_refused_in_words_and_the_page_goes_on() -> None:
    app = upload(opened("wic"), "proof_wic_upload", table(("text",), *[("<b>a</b> b",)] * N))
    assert any("columns of texts" in each.value for each in (*app.error, *app.warning))
    assert field(app.file_uploader, "proof_wic_train")


@pytest.mark.parametrize(
    ("verdicts", "claims"),
    [
        (("a", "a", "n"), ["agree", "bert_base"]),
        (("n", "a", "n"), ["agree", "other", "bert_base"]),
        (("a", "b", "n"), ["agree", "blocked", "bert_base"]),
        (("d", "a", "n"), ["differ", "bert_base"]),
        (("a", "d", "a"), ["differ"]),
        (("a", "n", "a"), ["agree", "other"]),
        (("n", "n", "n"), ["none"]),
    ],
)
def test_the_headline_says_what_the_checks_that_were_run_show(
    verdicts: tuple[str, ...], claims: list[str]
) -> None:
    """a: agrees, d: differs, n: does not apply to this model, b: could not be run here."""
    differences = {"a": 0.0, "d": 1.0, "n": None, "b": None}
    checks = [
        Check(key, "", "", differences[verdict], is_blocked=verdict == "b")
        for key, verdict in zip(("weights", "transformers", "bert_base"), verdicts, strict=True)
    ]
    assert [claim.key for claim in proof_claims(checks)] == [f"proof.claim.{key}" for key in claims]


def test_the_worst_check_is_named_first_and_a_number_that_is_none_differs() -> None:
    good, bad = Check("batch", "", "", 1e-7, 1e-5), Check("layer_0", "", "", np.nan, 1e-5)
    assert "Layer 0 by hand** differs" in str(proof_claims([good, bad])[0])
    assert "**0.0000001** where 0.00001 is allowed" in str(proof_claims([good])[0])
    assert proof_details([good, replace(good, key="padding", difference=2e-7)])[1] == (
        "The largest difference (Padding is ignored) is 0.0000002 where 0.00001 is allowed."
    )
    passport = Passport(BUNDLED_ID, "1", "2", "exact", {})
    content = json.loads(as_json(ProofResult((good, bad), passport)))
    assert [row["verdict"] for row in content["checks"]] == ["agrees", "differs"]
    assert content["checks"][1]["difference"] is None  # JSON has no NaN
