"""The choice of a device for models, from given hardware, not this machine's own cards."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.encoder import devices
from contextlens.core.encoder.devices import CARD_TOKENS, CPU, CPU_TOKENS, Hardware, choose
from contextlens.core.errors import SettingsError

NOTHING = Hardware()
CARDS = Hardware(n_cuda=2, cuda_bfloat16=True)
APPLE = Hardware(has_mps=True)


@pytest.mark.parametrize(
    ("wanted", "hardware", "name"),
    [
        ("auto", NOTHING, "cpu"),
        ("auto", APPLE, "mps"),
        ("auto", CARDS, "cuda:0"),
        ("auto", Hardware(n_cuda=1, has_mps=True), "cuda:0"),
        ("cuda", CARDS, "cuda:0"),
        ("cuda:1", CARDS, "cuda:1"),
        ("cpu", CARDS, "cpu"),
        ("mps", APPLE, "mps"),
    ],
)
def test_the_best_or_the_wanted_device_is_chosen(
    wanted: str, hardware: Hardware, name: str
) -> None:
    assert choose(wanted, hardware).name == name


@pytest.mark.parametrize(
    ("wanted", "hardware", "has"),
    [
        ("cuda", NOTHING, "finds cpu on"),
        ("mps", CARDS, "finds cuda:0, cuda:1 and cpu on"),
        ("cuda:2", CARDS, "finds cuda:0, cuda:1 and cpu on"),
        ("cuda", APPLE, "finds mps and cpu on"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(wanted: str, hardware: Hardware, has: str) -> None:
    with pytest.raises(SettingsError, match=f"asks for {wanted}, and torch {has} this machine"):
        choose(wanted, hardware)


def test_a_card_gets_larger_batches_and_its_own_half_precision() -> None:
    card, old = choose("auto", CARDS), choose("auto", Hardware(n_cuda=1))
    assert (CPU.batch_tokens, card.batch_tokens) == (CPU_TOKENS, CARD_TOKENS)
    assert card.overhead_tokens > CPU.overhead_tokens
    assert card.fast is not None
    assert old.fast is not None
    assert (card.fast.dtype, old.fast.dtype) == ("bfloat16", "float16")
    assert choose("mps", APPLE).fast.dtype == "float16"  # type: ignore[union-attr]
    assert choose("cpu", CARDS).fast is None  # as measured


def test_what_needs_float64_runs_on_the_processor_where_the_device_has_none() -> None:
    assert choose("mps", APPLE).for_steps == CPU
    assert choose("cuda", CARDS).for_steps.name == "cuda:0"


def test_card_and_passport_name_the_device(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    assert card.device == devices.device_of("auto").name
    encoding = service.encode(BUNDLED_ID, ["A snake"])[0]
    assert encoding.passport.settings["device"] == card.device


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
def test_a_device_that_is_not_there_is_said_when_a_model_is_loaded(
    open_with: Callable[..., EncoderService],
) -> None:
    service = open_with(device="cuda:7")
    with pytest.raises(SettingsError, match="CONTEXTLENS_DEVICE asks for cuda:7"):
        service.load(BUNDLED_ID)


def test_arrays_leave_a_device_before_they_become_numpys() -> None:
    """On a card, `.numpy()` alone raises; without one, no other test would notice."""
    folder = Path(devices.__file__).parent
    assert not [
        f"{path.name}: {line.strip()}"
        for path in sorted(folder.glob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.search(r"(?<!\.cpu\(\))\.numpy\(", line)
    ]
