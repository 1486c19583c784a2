"""`python -m contextlens.proof`: run the checks, and print a table or JSON.

The exit code has the result. 0: all checks that apply to the model agree. 1: one differs, or could
not be run here. 2: what was given cannot be used. Checks that belong to another model, such as the
printed numbers of bert-base-uncased, do not apply: give --model to check that one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from contextlens.content.language import say
from contextlens.core import BUNDLED_ID, Settings, open_service
from contextlens.core.errors import ContextlensError, CorpusError
from contextlens.corpus.readers import read
from contextlens.corpus.second_file import joined
from contextlens.corpus.table import Table
from contextlens.proof.benchmarks import BENCHMARKS, measure, rows_from
from contextlens.proof.checks import Check, folder_of, ready_checks, rows_of

__all__ = ["main"]

_AGREE, _FAILED, _UNUSABLE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        checks = _checks(options)
    except (ContextlensError, OSError) as exc:
        print(exc, file=sys.stderr)
        return _UNUSABLE
    rows = rows_of(checks)
    if options.json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        for row in rows:
            apart = "" if row["difference"] is None else f"{row['difference']:.1e}"
            sides = f"{row['expected']} | {row['measured']} {apart}".strip(" |")
            print(f"{row['verdict']:<9} {row['check']}: {sides} {row['note']}".rstrip())
    failed = any(check.verdict == "differs" or check.is_blocked for check in checks)
    return _FAILED if failed else _AGREE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m contextlens.proof", description=__doc__)
    parser.add_argument("--model", default=BUNDLED_ID, help="a model's id (%(default)s)")
    parser.add_argument("--benchmark", choices=list(BENCHMARKS), help="instead: a published one")
    for name in ("file", "train"):
        parser.add_argument(f"--{name}", type=Path, help=f"the benchmark's {name} rows")
        parser.add_argument(f"--{name}-labels", type=Path, help="their labels, if apart")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _checks(options: argparse.Namespace) -> tuple[Check, ...]:
    if bool(options.benchmark) != bool(options.file):
        raise CorpusError(say("proof.error.file_and_benchmark"))
    settings = Settings.from_env()
    rows = None
    if options.benchmark:
        benchmark = BENCHMARKS[options.benchmark]
        train = _sheet(options.train, options.train_labels, settings) if options.train else None
        rows = rows_from(benchmark, _sheet(options.file, options.file_labels, settings), train)
    service = open_service(settings)
    card = service.load(options.model)
    if rows is not None:
        return (measure(benchmark, rows, service, card, _quiet),)
    return ready_checks(service, card, folder_of(card, settings), _quiet)


def _sheet(file: Path, labels: Path | None, settings: Settings) -> Table:
    most = settings.max_upload_bytes
    sheet = read(file.name, file.read_bytes(), max_bytes=most)
    if labels is None:
        return sheet
    return joined(sheet, labels.name, labels.read_bytes(), max_bytes=most, max_held=10 * most)


def _quiet(stage: str, share: float) -> None:
    """Take the progress and do nothing with it."""


if __name__ == "__main__":
    sys.exit(main())
