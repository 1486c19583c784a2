"""Threads that compute together sleep while they wait, and small products have one thread."""

from __future__ import annotations

import os

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from contextlens.core.threads import one_blas_thread, wait_asleep


def test_threads_sleep_while_they_wait_unless_the_environment_says_how(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    wait_asleep()
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    wait_asleep()
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE"


def _blas_threads() -> set[int]:
    np.ones(2) @ np.ones(2)
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_products_have_one_thread_until_the_last_block_ends() -> None:
    with threadpool_limits(2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert _blas_threads() == {1}
        second.__exit__(None, None, None)
        assert _blas_threads() == {2}
        with pytest.raises(ZeroDivisionError), one_blas_thread():
            raise ZeroDivisionError
        assert _blas_threads() == {2}
