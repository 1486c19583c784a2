"""Fixtures of the tests on a cluster: one Ray runtime, and one object store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.object_store import ObjectStore, object_store, s3_server

__all__ = ["object_store", "ray_runtime", "s3_server"]


@pytest.fixture(scope="session")
def ray_runtime(s3_server: ObjectStore) -> Iterator[None]:
    """A Ray runtime on this machine alone: two processors, and workers that know the storage."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**s3_server.environment(), "RAY_USAGE_STATS_ENABLED": "0"}.items():
            patch.setenv(name, value)
        ray.init(
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=200_000_000,
            log_to_driver=False,
            configure_logging=False,
        )
    yield
    ray.shutdown()
