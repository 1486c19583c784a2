"""From nothing to a first answer: seconds and memory of a fresh Python."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass

from contextlens.core.registry import bundled_folder
from tests.benchmarks.browser import ROOT
from tests.benchmarks.peers.rows import Group, Row
from tests.benchmarks.workers import wait_for_quiet

__all__ = ["starting"]

TEXT = "She sat on the bank of the river."
SLACK_SECONDS = 0.5
SLACK_MB = 25.0
OURS = """
from contextlens.core import BUNDLED_ID, open_service
open_service().encode(BUNDLED_ID, [TEXT])
"""
TRANSFORMERS = """
import torch
from transformers import AutoModel, AutoTokenizer
tokenizer, model = AutoTokenizer.from_pretrained(FOLDER), AutoModel.from_pretrained(FOLDER).eval()
with torch.no_grad():
    model(**tokenizer(TEXT, return_tensors="pt"), output_hidden_states=True)
"""
SENTENCE_TRANSFORMERS = """
from sentence_transformers import SentenceTransformer
model = SentenceTransformer(FOLDER, device="cpu")
model.encode([TEXT], output_value="token_embeddings", show_progress_bar=False)
"""
WEIGH = """
import psutil
print(psutil.Process().memory_info().rss)
"""
PEERS = {
    "transformers script": (TRANSFORMERS, ("transformers", "torch")),
    "sentence-transformers script": (
        SENTENCE_TRANSFORMERS,
        ("sentence-transformers", "transformers", "torch"),
    ),
}


@dataclass(frozen=True)
class Started:
    """Seconds to the first answer, and the process's memory by then."""

    seconds: float
    mb: float


def starting(rounds: int) -> Group:
    """Import, load, encode one sentence. The first round only warms the disk's cache.

    Ours also verifies the weights' checksum and keeps a cache of results, hence the slack.
    """
    scripts = {"ours": OURS, **{name: script for name, (script, _) in PEERS.items()}}
    took: dict[str, list[Started]] = {name: [] for name in scripts}
    for turn in range(rounds + 1):
        for name, script in scripts.items():
            wait_for_quiet()
            started = _start(script)
            if turn:
                took[name].append(started)
    rows = []
    for what, unit, slack in (("seconds", "s", SLACK_SECONDS), ("mb", "MB", SLACK_MB)):
        values = {name: tuple(getattr(s, what) for s in each) for name, each in took.items()}
        task = f"a fresh Python to its first encoding{': memory' if what == 'mb' else ''}"
        rows += [
            Row(task, name, values["ours"], values[name], unit, slack=slack, packages=packages)
            for name, (_, packages) in PEERS.items()
        ]
    return Group(rows)


def _start(script: str) -> Started:
    given = f"FOLDER, TEXT = {str(bundled_folder())!r}, {TEXT!r}"
    quiet = {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    begin = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", f"{given}\n{script}\nprint(flush=True){WEIGH}"],
        cwd=ROOT,
        env={**os.environ, **quiet},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        took = time.perf_counter() - begin
        held = process.stdout.readline()
        _, said = process.communicate()
    if process.returncode:
        raise RuntimeError(f"The script did not end well:\n{said}")
    return Started(took, float(held) / 1e6)
