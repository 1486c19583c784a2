"""The devices that models run on, their memory, and the precision that is fast on them."""

from __future__ import annotations

import ctypes
import json
import math
import mmap
import os
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
import torch
from safetensors import SafetensorError, safe_open
from torch.nn import functional

from contextlens.core.errors import SettingsError
from contextlens.core.memory import free_memory
from contextlens.core.schema import FastPrecision, FloatArray
from contextlens.core.threads import processor

__all__ = [
    "CARD_TOKENS",
    "CPU",
    "CPU_TOKENS",
    "FILE",
    "LONG_RUN",
    "Device",
    "Hardware",
    "allocate_array",
    "choose",
    "detect_hardware",
    "device_of",
    "fast_precision",
    "free_memory",
    "machine",
    "needed_memory",
    "return_freed_memory",
    "tidy_memory",
]


# --- Memory: does a model fit?

_BYTES = 4  # of a weight in memory: float32, whatever the file has
_SPARE = 200_000_000  # bytes for the tokenizer and the first texts


def needed_memory(folder: Path) -> int:
    """Bytes that a model takes, read from the headers of its weight files; 0 if unreadable.

    safetensors checks a header against the length of its file, so the sizes are real.
    """
    single = folder / "model.safetensors"
    paths = [single] if single.is_file() else sorted(folder.glob("model-*-of-*.safetensors"))
    try:
        return sum(map(_n_weights, paths)) * _BYTES + _SPARE
    except (SafetensorError, OSError, MemoryError):  # the loader reports what is wrong with them
        return 0


def _n_weights(path: Path) -> int:
    with safe_open(path, framework="numpy") as file:
        shapes = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
    return sum(map(prod, shapes))


# --- Returning freed memory to the system

LONG_RUN = 2048
"""Runs of at least this many tokens keep their memory for reuse."""
SHORT_RUN = 256
"""Runs of at most this many tokens free too little memory to be worth returning."""

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_SYSTEM_PIECE = 1 << 16  # bytes; allocations this large come directly from the system
_LARGEST_PIECE = 1 << 25  # bytes; the highest threshold that glibc accepts
_KEPT = 1 << 27
_KEPT_USUALLY = 1 << 17  # bytes; glibc's default threshold

_PRIVATE: dict[str, int] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)}
    if hasattr(mmap, "MAP_PRIVATE")
    else {}
)
"""Pre-populated private pages take two thirds of the time of shared pages faulted one by one."""

_lock = threading.Lock()
_n_running = 0


def _glibc() -> Any:
    try:
        library = ctypes.CDLL("libc.so.6")
        return library if hasattr(library, "mallopt") else None
    except OSError:  # not glibc: other allocators return memory themselves
        return None


_LIBRARY = _glibc()


def return_freed_memory() -> None:
    """Return large blocks of memory to the system as soon as they are freed, from now on."""
    _set(_SYSTEM_PIECE, _KEPT_USUALLY)


@contextmanager
def tidy_memory(n_tokens: int) -> Iterator[None]:
    """Let a long run of `n_tokens` reuse its memory; return memory after all but short runs.

    While a long run lasts, blocks freed in other threads are kept too, and later allocations reuse
    them; so runs of medium length return memory as well.
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


def allocate_array(*shape: int) -> FloatArray:
    """An uninitialised float32 array for a result."""
    n_bytes = 4 * math.prod(shape)
    if n_bytes >= _SYSTEM_PIECE:
        try:
            return np.frombuffer(mmap.mmap(-1, n_bytes, **_PRIVATE), np.float32).reshape(shape)
        except OSError:  # the system allows a process some 65,000 mappings
            pass
    return np.empty(shape, np.float32)


def _set(mmap_threshold: int, trim_threshold: int) -> None:
    if _LIBRARY is not None:
        _LIBRARY.mallopt(_M_MMAP_THRESHOLD, mmap_threshold)
        _LIBRARY.mallopt(_M_TRIM_THRESHOLD, trim_threshold)


# --- Is bfloat16 faster than float32 here?

FILE = "bfloat16.json"
_WORTH = 1.15  # the speed-up that justifies the conversions and a second copy in memory
_ROUNDS = 5
_N_TOKENS, _N_DIMS, _N_INNER = 256, 384, 1536


@cache
def fast_precision(folder: Path) -> FastPrecision:
    """The data type behind `precision="fast"` on this machine, with the reason.

    Args:
        folder: stores the measurement, which is reused if it was made on this same machine.
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
    """The facts that determine the measurement: the processor and the library that computes."""
    capability = torch.backends.cpu.get_cpu_capability()
    return f"{processor()}, {os.cpu_count()} cores, {capability}, torch {torch.__version__}"


def _read(path: Path) -> float | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        ratio = record["ratio"] if record["machine"] == machine() else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    usable = isinstance(ratio, float) and 0.001 < ratio < 1000
    return ratio if usable else None


def _keep(path: Path, ratio: float) -> None:
    """Save the measurement; if that fails, the next process measures again."""
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps({"machine": machine(), "ratio": ratio}), encoding="utf-8")
        temporary.replace(path)
    except OSError:
        return


@cache
def _measured() -> float:
    """The speed-up of bfloat16 over float32: the best of several alternating rounds."""
    exact, fast = _layer(torch.float32), _layer(torch.bfloat16)
    exact(), fast()
    rounds = [(_seconds(exact), _seconds(fast)) for _ in range(_ROUNDS)]
    return min(a for a, _ in rounds) / min(b for _, b in rounds)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _layer(dtype: torch.dtype) -> Callable[[], object]:
    """The expensive steps of one encoder layer of the bundled model's size."""
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


# --- The device that a model runs on

CPU_TOKENS = 1024
"""Padded tokens in a batch. Measured: 1,024 to 2,048 is fastest alone, 1,024 on a shared machine;
8,192 is 1.7 times slower."""
CARD_TOKENS = 16_384
"""Padded tokens in a batch on a graphics card: it has more cores, and each step starts slowly."""


CPU_OVERHEAD = 64
"""The cost of launching some hundred steps, in tokens. Measured: 5 ms to 8 ms in all, while
one token takes 0.1 ms."""
CARD_OVERHEAD = 4096
"""The same cost on a graphics card, which computes a token much faster."""


@dataclass(frozen=True)
class Hardware:
    """The accelerators of a machine.

    Attributes:
        n_cuda: the number of CUDA cards.
        has_mps: True if there is an Apple graphics processor.
        cuda_bfloat16: True if the first card supports bfloat16 natively.
    """

    n_cuda: int = 0
    has_mps: bool = False
    cuda_bfloat16: bool = False


@dataclass(frozen=True)
class Device:
    """The device that a model runs on.

    Attributes:
        name: as torch and `CONTEXTLENS_DEVICE` name it: "cpu", "cuda:0", "mps".
        fast: the precision of fast work; None if it must be measured.
    """

    name: str
    fast: FastPrecision | None = None

    @property
    def batch_tokens(self) -> int:
        """The most tokens, padding included, in a batch of several texts."""
        return CPU_TOKENS if self.name == "cpu" else CARD_TOKENS

    @property
    def overhead_tokens(self) -> int:
        """The cost of starting a batch, as the number of tokens computed in the same time."""
        return CPU_OVERHEAD if self.name == "cpu" else CARD_OVERHEAD

    @property
    def is_cuda(self) -> bool:
        """True for a CUDA card, where transfers can overlap with computation."""
        return self.name.startswith("cuda")

    @property
    def for_steps(self) -> Device:
        """The device for layer-by-layer runs: they sum in float64, which Apple's GPU cannot do."""
        return CPU if self.name == "mps" else self

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        """Copy a tensor from the processor's memory to this device, possibly asynchronously."""
        if self.is_cuda:
            return tensor.pin_memory().to(self.name, non_blocking=True)
        return tensor.to(self.name)

    def fetch(self, tensors: Sequence[torch.Tensor]) -> list[FloatArray]:
        """Copy tensors to float32 arrays in the processor's memory, and wait for all of them."""
        on_processor = [t.float().to("cpu", non_blocking=self.is_cuda) for t in tensors]
        if self.is_cuda:  # into pinned memory, which torch reserves for this
            torch.cuda.current_stream(torch.device(self.name)).synchronize()
        return [_array(t) for t in on_processor]


CPU = Device("cpu")


@cache
def detect_hardware() -> Hardware:
    """The accelerators of this machine."""
    n_cuda = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return Hardware(
        n_cuda=n_cuda,
        has_mps=torch.backends.mps.is_available(),
        cuda_bfloat16=n_cuda > 0 and torch.cuda.is_bf16_supported(including_emulation=False),
    )


@cache
def device_of(wanted: str) -> Device:
    """The device that models run on here, by `CONTEXTLENS_DEVICE`.

    Raises:
        SettingsError: this machine does not have the device.
    """
    return choose(wanted, detect_hardware())


def choose(wanted: str, hardware: Hardware) -> Device:
    """The device that models run on, on a machine with these accelerators.

    Args:
        wanted: "auto", "cpu", "cuda", "cuda:N" or "mps".
        hardware: the machine's accelerators.

    Raises:
        SettingsError: the machine does not have the device.
    """
    names = [
        *(f"cuda:{i}" for i in range(hardware.n_cuda)),
        *(["mps"] if hardware.has_mps else []),
        "cpu",
    ]
    name = {"auto": names[0], "cuda": "cuda:0"}.get(wanted, wanted)
    if name not in names:
        raise SettingsError(
            f"CONTEXTLENS_DEVICE asks for {wanted}, and torch finds {_listed(names)} on this "
            "machine. Choose one of these, or unset it for the best that is there."
        )
    return Device(name, None if name == "cpu" else _fast(name, hardware))


def _fast(name: str, hardware: Hardware) -> FastPrecision:
    kind = "bfloat16" if name != "mps" and hardware.cuda_bfloat16 else "float16"
    return FastPrecision(kind, f"{name} computes in {kind} quicker than in float32.")  # type: ignore[arg-type]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _array(tensor: torch.Tensor) -> FloatArray:
    array: FloatArray = np.asarray(tensor.cpu().numpy(), dtype=np.float32)
    return array
