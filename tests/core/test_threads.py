"""Threads that compute together sleep while they wait."""

from __future__ import annotations

import os

import pytest

from components.core.threads import wait_asleep


def test_threads_sleep_while_they_wait_unless_the_environment_says_how(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    wait_asleep()
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    wait_asleep()
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE"
