"""The numbers on the pages, beside those kept in data/record.json.

`CONTEXTLENS_RECORD=FILE pytest tests/test_record.py` writes all numbers of all views to a file;
`python -m tests.support.record BEFORE AFTER` compares two of them.
`CONTEXTLENS_RECORD=new` renews what is kept.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from contextlens.ui.models.background import jobs
from tests.support.pages import bundled_app, framed, settled
from tests.support.record import FEW, VIEWS, numbers_of, summary

KEPT = Path(__file__).parent / "data" / "record.json"
TARGET = os.environ.get("CONTEXTLENS_RECORD", "")


@pytest.fixture(scope="module", autouse=True)
def _app(tmp_path_factory: pytest.TempPathFactory, tiny_root: Path) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MODEL_FOLDERS=str(tiny_root)):
        yield


def shown(name: str) -> dict[str, list[float]]:
    page, view = VIEWS[name]
    app = settled(framed(view, page))
    while any(state in ("waiting", "running") for _, state in jobs().tally()):
        time.sleep(0.1)  # what a page takes in when it is there
    return numbers_of(settled(app.run()))


if TARGET:

    @pytest.mark.timeout(3600)
    def test_all_numbers_are_written() -> None:
        """No test, but it needs what the tests need."""
        if TARGET == "new":
            found = {
                name: {key: summary(numbers) for key, numbers in shown(name).items()}
                for name in FEW
            }
            KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            return
        everything = {name: shown(name) for name in VIEWS}
        Path(TARGET).write_text(json.dumps(everything), encoding="utf-8")

else:

    @pytest.mark.slow
    @pytest.mark.parametrize("name", FEW)
    def test_pages_show_the_numbers_that_are_kept(name: str) -> None:
        kept = json.loads(KEPT.read_text(encoding="utf-8"))[name]
        now = {element: summary(numbers) for element, numbers in shown(name).items()}
        assert now.keys() == kept.keys()
        for element, numbers in now.items():
            np.testing.assert_allclose(
                numbers, kept[element], rtol=1e-3, atol=1e-4, err_msg=element
            )
