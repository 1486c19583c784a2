"""One model, which is enough for what does not depend on the family."""

from __future__ import annotations

from pathlib import Path

import pytest

from contextlens.core import EncoderService
from tests.core.encoder import hooked
from tests.core.encoder.intervening.intervened import BASELINE, INPUTS, Subject
from tests.support.oracle import Oracle


@pytest.fixture(scope="session")
def tiny(tiny_root: Path, tiny_service: EncoderService) -> Subject:
    oracle = Oracle(tiny_root / "bert", 64)
    plain = {one: hooked.run(oracle, *one) for one in INPUTS}
    return Subject(
        "folder:bert", tiny_service, oracle, plain, [hooked.run(oracle, t) for t in BASELINE]
    )
