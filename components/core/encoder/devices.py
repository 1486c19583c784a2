"""The devices that models can run on, their memory, and which precision is fast on them."""

from __future__ import annotations

import ctypes
import json
import math
import mmap
import os
import platform
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import torch
from safetensors import SafetensorError, safe_open
from torch.nn import functional

from components.core.errors import SettingsError
from components.core.schema import FastPrecision, FloatArray

__all__ = [
    "CARD_TOKENS",
    "CPU",
    "CPU_TOKENS",
    "FILE",
    "LONG_RUN",
    "Device",
    "There",
    "choose",
    "device_of",
    "fast_precision",
    "free_memory",
    "machine",
    "needed_memory",
    "return_freed_memory",
    "set_aside",
    "there",
    "tidy_memory",
]


# --- Whether a model's weights fit into the memory that is free

_BYTES = 4  # of a weight in memory: float32, whatever the file has
_CONTAINER = Path("/sys/fs/cgroup")
_SPARE = 200_000_000  # bytes for the tokenizer and the first texts


def free_memory() -> int:
    """Bytes that this machine, or the container that this runs in, can give without swapping."""
    return min(int(psutil.virtual_memory().available), _container_memory())


def _container_memory() -> int:
    """What a container's own bound leaves (cgroup v2); as much as can be where there is none."""
    try:
        most, held = (
            int((_CONTAINER / f"memory.{kind}").read_text()) for kind in ("max", "current")
        )
        stated = dict(
            line.split() for line in (_CONTAINER / "memory.stat").read_text().splitlines()
        )
        return most - held + int(stated["inactive_file"])  # files' pages are given back when asked
    except (OSError, ValueError, KeyError):  # no such files, or no number: "max"
        return sys.maxsize


def needed_memory(folder: Path) -> int:
    """Bytes that a model of this folder takes, by the headers of its weights; 0 if unreadable.

    safetensors checks a header against the length of its file, so no size is made up.
    """
    single = folder / "model.safetensors"
    paths = [single] if single.is_file() else sorted(folder.glob("model-*-of-*.safetensors"))
    try:
        return sum(map(_n_weights, paths)) * _BYTES + _SPARE
    except (SafetensorError, OSError, MemoryError):  # the loader says what is wrong with them
        return 0


def _n_weights(path: Path) -> int:
    with safe_open(path, framework="numpy") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
    return sum(map(prod, shapes))


# --- What becomes of memory that is freed

LONG_RUN = 2048
"""Tokens of a run that is worth keeping memory for."""
SHORT_RUN = 256
"""Tokens of a run that leaves too little behind to return it."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_SYSTEM_PIECE = 1 << 16  # bytes; from here on pieces are asked of the system
_LARGEST_PIECE = 1 << 25  # the largest such bound that glibc takes
_KEPT = 1 << 27
_KEPT_USUALLY = 1 << 17  # glibc's own

_PRIVATE: dict[str, int] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)}
    if hasattr(mmap, "MAP_PRIVATE")
    else {}
)
"""Pages that are there at once take two thirds of the time of shared ones that come one by one."""

_lock = threading.Lock()
_n_running = 0


def _glibc() -> Any:
    try:
        library = ctypes.CDLL("libc.so.6")
        return library if hasattr(library, "mallopt") else None
    except OSError:  # not glibc: other allocators give memory back themselves
        return None


_LIBRARY = _glibc()


def return_freed_memory() -> None:
    """From now on, large pieces of memory go back to the system as soon as they are freed."""
    _set(_SYSTEM_PIECE, _KEPT_USUALLY)


@contextmanager
def tidy_memory(n_tokens: int) -> Iterator[None]:
    """For a run of so many tokens: a long one uses its memory again, all but short ones return it.

    In other threads freed pieces are kept too while a long run lasts, and come from what it left
    behind afterwards; so runs that are not long return memory as well.
    """
    if n_tokens >= LONG_RUN:
        _count(1)
    try:
        yield
    finally:
        if n_tokens >= LONG_RUN:
            _count(-1)
        if n_tokens >= SHORT_RUN and _LIBRARY is not None:
            _LIBRARY.malloc_trim(0)


def _count(more: int) -> None:
    global _n_running
    with _lock:
        _n_running += more
        if _n_running:
            _set(_LARGEST_PIECE, _KEPT)
        else:
            return_freed_memory()


def set_aside(*shape: int) -> FloatArray:
    """An array to be filled with a result; its values are arbitrary until then."""
    n_bytes = 4 * math.prod(shape)
    if n_bytes >= _SYSTEM_PIECE:
        try:
            return np.frombuffer(mmap.mmap(-1, n_bytes, **_PRIVATE), np.float32).reshape(shape)
        except OSError:  # the system gives a process some 65,000 mappings
            pass
    return np.empty(shape, np.float32)


def _set(piece: int, kept: int) -> None:
    if _LIBRARY is not None:
        _LIBRARY.mallopt(_M_MMAP_THRESHOLD, piece)
        _LIBRARY.mallopt(_M_TRIM_THRESHOLD, kept)


# --- Whether bfloat16 is quicker than float32 here

FILE = "bfloat16.json"
_WORTH = 1.15  # times as quick, for the conversions and the memory of a second copy
_ROUNDS = 5
_N_TOKENS, _N_DIMS, _N_INNER = 256, 384, 1536


@cache
def fast_precision(folder: Path) -> FastPrecision:
    """What `precision="fast"` computes in on this machine, with the reason.

    Args:
        folder: where the measurement is kept, and read from where it is of this very machine.
    """
    ratio = _read(folder / FILE)
    if ratio is None:
        ratio = _measured()
        _keep(folder / FILE, ratio)
    if ratio >= _WORTH:
        reason = f"Measured on this machine: bfloat16 takes {1 / ratio:.0%} of float32's time."
        return FastPrecision("bfloat16", reason)
    return FastPrecision(
        "float32",
        f"Measured on this machine: bfloat16 takes {1 / ratio:.0%} of float32's time, so fast work "
        "is done exactly.",
    )


@cache
def machine() -> str:
    """What decides the measurement: the processor and the library that computes."""
    capability = torch.backends.cpu.get_cpu_capability()
    return f"{_processor()}, {os.cpu_count()} cores, {capability}, torch {torch.__version__}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    kept = {line.partition(":")[2] for line in lines if line.startswith(("model name", "flags"))}
    return " ".join(sorted(kept)) or platform.processor()


def _read(path: Path) -> float | None:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        ratio = kept["ratio"] if kept["machine"] == machine() else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    usable = isinstance(ratio, float) and 0.001 < ratio < 1000
    return ratio if usable else None


def _keep(path: Path, ratio: float) -> None:
    """Write it down; where that cannot be, the next process measures again."""
    own = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(json.dumps({"machine": machine(), "ratio": ratio}), encoding="utf-8")
        own.replace(path)
    except OSError:
        return


@cache
def _measured() -> float:
    """How many times as quick bfloat16 is: the best of some rounds of each, in turn."""
    exact, fast = _layer(torch.float32), _layer(torch.bfloat16)
    exact(), fast()
    rounds = [(_seconds(exact), _seconds(fast)) for _ in range(_ROUNDS)]
    return min(a for a, _ in rounds) / min(b for _, b in rounds)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _layer(dtype: torch.dtype) -> Callable[[], object]:
    """The heavy steps of one encoder layer of the bundled model's size."""
    vectors = torch.ones(_N_TOKENS, _N_DIMS, dtype=dtype)
    square = torch.full((_N_DIMS, _N_DIMS), 1 / _N_DIMS, dtype=dtype)
    up = torch.full((_N_INNER, _N_DIMS), 1 / _N_DIMS, dtype=dtype)
    down = torch.full((_N_DIMS, _N_INNER), 1 / _N_INNER, dtype=dtype)

    @torch.inference_mode()
    def work() -> object:
        out = vectors
        for _ in range(4):
            out = functional.linear(out, square)
        inner = functional.gelu(functional.linear(out, up))
        return functional.layer_norm(functional.linear(inner, down), (_N_DIMS,)).float()

    return work


# --- What a model computes on

CPU_TOKENS = 1024
"""Padded tokens in a batch. Measured: 1,024 to 2,048 is fastest alone, 1,024 on a shared machine;
8,192 is 1.7 times slower."""
CARD_TOKENS = 16_384
"""The same on a graphics card, which has more to fill and starts each step slower."""


CPU_OVERHEAD = 64
"""What some hundred steps cost before they compute anything, in tokens. Measured: 5 ms to 8 ms,
beside 0.1 ms a token."""
CARD_OVERHEAD = 4096
"""The same on a graphics card, which computes a token so much quicker."""


@dataclass(frozen=True)
class There:
    """What a machine has beside its processor.

    Attributes:
        n_cuda: CUDA cards.
        has_mps: whether there is Apple's graphics processor.
        cuda_bfloat16: whether the first card computes in bfloat16 itself.
    """

    n_cuda: int = 0
    has_mps: bool = False
    cuda_bfloat16: bool = False


@dataclass(frozen=True)
class Device:
    """What a model computes on.

    Attributes:
        name: as torch and `CONTEXTLENS_DEVICE` name it: "cpu", "cuda:0", "mps".
        fast: what fast work is done in; None where that must be measured.
    """

    name: str
    fast: FastPrecision | None = None

    @property
    def batch_tokens(self) -> int:
        """How many tokens, padding included, a batch should have."""
        return CPU_TOKENS if self.name == "cpu" else CARD_TOKENS

    @property
    def overhead_tokens(self) -> int:
        """What beginning a batch costs, in tokens that could be computed instead."""
        return CPU_OVERHEAD if self.name == "cpu" else CARD_OVERHEAD

    @property
    def is_cuda(self) -> bool:
        """Whether transfers can go on while something else is computed."""
        return self.name.startswith("cuda")

    @property
    def for_steps(self) -> Device:
        """What models compute on that run layer by layer, with float64: Apple's has none."""
        return CPU if self.name == "mps" else self

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor of the processor's memory, there; it may still be on its way."""
        if self.is_cuda:
            return tensor.pin_memory().to(self.name, non_blocking=True)
        return tensor.to(self.name)

    def fetch(self, tensors: Sequence[torch.Tensor]) -> list[FloatArray]:
        """Tensors as float32 arrays of the processor's memory, all there."""
        here = [t.float().to("cpu", non_blocking=self.is_cuda) for t in tensors]
        if self.is_cuda:  # into pinned memory, which torch takes for this
            torch.cuda.current_stream(torch.device(self.name)).synchronize()
        return [_array(t) for t in here]


CPU = Device("cpu")


@cache
def there() -> There:
    """What this machine has."""
    n_cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return There(
        n_cuda=n_cuda,
        has_mps=torch.backends.mps.is_available(),
        cuda_bfloat16=n_cuda > 0 and torch.cuda.is_bf16_supported(including_emulation=False),
    )


@cache
def device_of(wanted: str) -> Device:
    """What models compute on here, by `CONTEXTLENS_DEVICE`.

    Raises:
        SettingsError: it is not there.
    """
    return choose(wanted, there())


def choose(wanted: str, there: There) -> Device:
    """What models compute on, on a machine that has this.

    Args:
        wanted: "auto", "cpu", "cuda", "cuda:N" or "mps".
        there: what it has.

    Raises:
        SettingsError: what is wanted is not there.
    """
    names = [
        *(f"cuda:{i}" for i in range(there.n_cuda)),
        *(["mps"] if there.has_mps else []),
        "cpu",
    ]
    name = {"auto": names[0], "cuda": "cuda:0"}.get(wanted, wanted)
    if name not in names:
        raise SettingsError(
            f"CONTEXTLENS_DEVICE asks for {wanted}, and torch finds {_listed(names)} on this "
            "machine. Choose one of these, or unset it for the best that is there."
        )
    return Device(name, None if name == "cpu" else _fast(name, there))


def _fast(name: str, there: There) -> FastPrecision:
    kind = "bfloat16" if name != "mps" and there.cuda_bfloat16 else "float16"
    return FastPrecision(kind, f"{name} computes in {kind} quicker than in float32.")  # type: ignore[arg-type]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _array(tensor: torch.Tensor) -> FloatArray:
    array: FloatArray = np.asarray(tensor.cpu().numpy(), dtype=np.float32)
    return array
