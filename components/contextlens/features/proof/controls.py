"""The control of Proof."""

from __future__ import annotations

from contextlens.proof.benchmarks import BENCHMARKS
from contextlens.ui.state.controls import choice

PAGE = "proof"

READY = "ready"
WHAT = choice(PAGE, "what", (READY, *BENCHMARKS))
"""The checks that need no file, or one of the published benchmarks."""
