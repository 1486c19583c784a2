"""What a model computes on: chosen by what is there, and how arrays get there and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from components.core.errors import SettingsError
from components.core.schema import FastPrecision, FloatArray

__all__ = ["CARD_TOKENS", "CPU", "CPU_TOKENS", "Device", "There", "choose", "device_of", "there"]

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
