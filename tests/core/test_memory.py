"""Results keep no memory of the run that made them, and a run keeps none of its own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from contextlens.core.encoder.devices import allocate_array

GROWTH = """
import gc, psutil, time, torch
torch.set_num_threads(1)
from contextlens.core import BUNDLED_ID, open_service, Settings
from contextlens.core.encoder.devices import LONG_RUN
from contextlens.content.bundled_texts import baseline_sentences
texts = [" ".join(baseline_sentences()[i : i + 3]) for i in range(160)]
service = open_service(Settings(cache_bytes=1))
service.encode(BUNDLED_ID, ["The first sentence is not counted."])
def own_bytes():
    # Without the pages of files, which come and go as the system likes.
    now = psutil.Process().memory_info()
    return now.rss - getattr(now, "shared", 0)
before = own_bytes()
for half in (texts[:80], texts[80:]):
    n_tokens = sum(e.n_tokens for e in service.encode(BUNDLED_ID, half))
    assert n_tokens >= LONG_RUN, n_tokens
gc.collect()
deadline = time.monotonic() + 60
while (grown := own_bytes() - before) > 40e6 and time.monotonic() < deadline:
    time.sleep(0.1)  # it is kept a moment longer
print(grown / 1e6)
"""


@pytest.mark.slow
def test_a_long_run_gives_its_memory_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROWTH], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 40


def test_what_is_set_aside_has_the_shape_asked_and_can_be_filled() -> None:
    for shape in ((3,), (7, 20, 32), (7, 200, 384), (0, 5)):
        array = allocate_array(*shape)
        assert (array.shape, array.dtype) == (shape, np.float32)
        array[:] = 2.0
        assert array.sum() == 2.0 * array.size
