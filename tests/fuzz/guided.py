"""`python -m tests.fuzz.guided TARGET`: inputs that atheris makes by what they reach in our code.

It suits the ways in that are plain Python (address, state, txt, csv, tsv, jsonl, config, tokenizer,
settings, messages). atheris is no dependency, for it has wheels for some systems only: install it
beside (`pip install atheris`). It begins with the target's seeds, and keeps what it finds in
build/fuzz as `python -m tests.fuzz TARGET --repeat FILE` takes it.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from pathlib import Path

__all__ = ["main"]

_MEGABYTES = 4_000
_SECONDS = 20  # on one input, by the clock


def main() -> None:
    """Runs one target until it has had its inputs or its time; atheris ends the process."""
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not here. Install it (pip install atheris), or use tests.fuzz.")
    with atheris.instrument_imports(include=["components"]):  # before any of ours is imported
        from tests.fuzz.registry import NAMES, named
        from tests.fuzz.running import BUILD
        from tests.fuzz.target import judge

        given = _given([name for name in NAMES if name != "parquet"])
        target = named(given.target)
    logging.disable(logging.CRITICAL)
    seeds = Path(tempfile.mkdtemp())
    for number, content in enumerate(target.seeds().values()):
        (seeds / str(number)).write_bytes(content)
    BUILD.mkdir(parents=True, exist_ok=True)
    options = {
        "runs": given.inputs,
        "max_total_time": given.seconds,
        "seed": given.seed,
        "timeout": _SECONDS,
        "rss_limit_mb": _MEGABYTES,
        "max_len": 4_096,
        "artifact_prefix": f"{BUILD}/{given.target}-guided-",
        "print_final_stats": 1,
    }
    arguments = [f"-{name}={value}" for name, value in options.items()]

    def one(content: bytes) -> None:
        judge(target, content)

    atheris.Setup([sys.argv[0], *arguments, str(seeds)], one)
    atheris.Fuzz()


def _given(names: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("target", choices=names)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
