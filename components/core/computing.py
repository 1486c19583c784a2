"""Settings of what models compute on and for whom, part of `Settings`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from components.core.errors import SettingsError

__all__ = ["TABLE", "Computing"]

TABLE: tuple[tuple[str, str, str], ...] = (
    (
        "CONTEXTLENS_DEVICE",
        "auto",
        "What models compute on: cpu, cuda, cuda:1 (the second card), mps, or auto for the best "
        "that is there.",
    ),
    (
        "CONTEXTLENS_QUEUE_TEXTS",
        "2000",
        "Texts that may wait for a model before pages are told to try again; one visitor's count "
        "for at most half of that.",
    ),
    (
        "CONTEXTLENS_IDLE_MINUTES",
        "60",
        "Minutes after which a model that nobody uses leaves memory, the default one excepted; 0 "
        "for never.",
    ),
)
"""Every variable: name, default, meaning."""


@dataclass(frozen=True)
class Computing:
    """What models compute on, how many may wait for them, and how long they stay.

    Attributes:
        device: "auto", "cpu", "cuda", "cuda:N" or "mps".
        queue_texts: that may wait.
        idle_minutes: until a model leaves memory; 0 for never.
        batching: whether what several ask for at once runs together; only measurements say no.
    """

    device: str = "auto"
    queue_texts: int = 2000
    idle_minutes: int = 60
    batching: bool = True

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Computing:
        """Settings read from an environment.

        Raises:
            SettingsError: a variable has a value that is not allowed.
        """
        return cls(
            device=_device(env.get("CONTEXTLENS_DEVICE", "").strip().lower()),
            queue_texts=_whole(env, "CONTEXTLENS_QUEUE_TEXTS", 2000, least=2, unit="texts"),
            idle_minutes=_whole(env, "CONTEXTLENS_IDLE_MINUTES", 60, least=0, unit="minutes"),
        )


def _device(raw: str) -> str:
    if raw and not re.fullmatch(r"auto|cpu|mps|cuda(:[0-9]{1,2})?", raw):
        raise SettingsError(
            f"CONTEXTLENS_DEVICE is {raw!r}; it must be auto, cpu, mps, cuda, or cuda:1 for the "
            "second card. Correct it, or unset it for auto."
        )
    return raw or "auto"


def _whole(env: Mapping[str, str], name: str, default: int, *, least: int, unit: str) -> int:
    raw = env.get(name, "").strip() or str(default)
    if not re.fullmatch(r"[0-9]{1,9}", raw) or not least <= int(raw) <= 1_000_000:
        raise SettingsError(
            f"{name} is {raw!r}; it must be a whole number of {unit} from {least} to 1000000. "
            f"Correct it, or unset it for the default, {default}."
        )
    return int(raw)
