"""A foreign tokenizer tried in a process of its own, bounded in memory and time, before it is used.

What its file says is checked before (`tokenizer_file`), but only running it shows what it does. It
is tried once for each file, known by its checksum, one at a time.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from components.core.encoder import tokenizer_child
from components.core.tokenizer_file import RefusedError

__all__ = ["Bounds", "bounds_for", "try_tokenizer"]

_REMEMBERED = 256  # tokenizers; how each went
_MEGABYTES, _MEGABYTES_EACH = 768, 48  # for any, and for each of its file's: a quarter above need
_MOST_MEGABYTES = 3072
_SECONDS, _SECONDS_EACH = 10, 0.75
_WAIT = 3  # times as long, where others use the processor too

_log = logging.getLogger("contextlens")
_one_at_a_time = threading.Lock()
_known: OrderedDict[tuple[str, int], str | None] = OrderedDict()


@dataclass(frozen=True)
class Bounds:
    """What a trial may take: memory, the processor's time, and time in all."""

    megabytes: int
    seconds: int
    wait_seconds: float


def bounds_for(size: int) -> Bounds:
    """The bounds for a file of so many bytes."""
    megabytes = size / 1_000_000
    seconds = int(_SECONDS + _SECONDS_EACH * megabytes)
    memory = int(min(_MEGABYTES + _MEGABYTES_EACH * megabytes, _MOST_MEGABYTES))
    return Bounds(memory, seconds, seconds * _WAIT)


def try_tokenizer(path: Path, limit: int, bounds: Bounds | None = None) -> None:
    """Pass where a tokenizer loads and cuts odd texts within bounds.

    Args:
        path: a tokenizer.json that nobody changes meanwhile.
        limit: one more than the largest ID that it may give.
        bounds: what it may take; by its size unless given.

    Raises:
        RefusedError: it does not.
    """
    data = path.read_bytes()
    key = hashlib.sha256(data).hexdigest(), limit
    with _one_at_a_time:
        if key not in _known:
            _known[key] = _outcome(path, limit, bounds or bounds_for(len(data)))
            while len(_known) > _REMEMBERED:
                _known.popitem(last=False)
        _known.move_to_end(key)
        refused = _known[key]
    if refused is not None:
        raise RefusedError(refused)


def _outcome(path: Path, limit: int, bounds: Bounds) -> str | None:
    """Why it is refused, or None."""
    arguments = [str(path), str(bounds.megabytes), str(bounds.seconds), str(limit)]
    one_thread = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    try:
        done = subprocess.run(
            [sys.executable, "-P", str(tokenizer_child.__file__), *arguments],
            env={**os.environ, **one_thread, "RUST_BACKTRACE": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=bounds.wait_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {bounds.wait_seconds:.0f} seconds over a short trial"
    except OSError as exc:
        raise RefusedError(f"no process could be started to try it ({exc.strerror})") from exc
    try:
        refused = json.loads(done.stdout)["refused"]
    except (ValueError, KeyError, TypeError):
        _log.warning("The trial of a tokenizer ended with %s", done.returncode)
        return (
            f"in a trial with {bounds.megabytes:,} MB of memory and {bounds.seconds} seconds its "
            "process did not come to a good end"
        )
    return None if refused is None else str(refused)
