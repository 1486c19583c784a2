"""The service on Ray Serve: one `LocalService` in each replica, found again by its models.

A request names its model in a header, by which Ray's router prefers a replica that has it in
memory. Requests meet inside a replica: its `LocalService` runs what comes together in batches, so
that none are made here. Importing this needs the extra `cluster`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ray import serve
from starlette.applications import Starlette

from components.core.service import LocalService
from components.core.settings import Settings
from components.serving.api import create_app

__all__ = ["NAME", "build"]

NAME = "contextlens"
_MODELS_A_REPLICA = 8
"""Models that a replica counts as its own; how many fit in memory its `LocalService` decides."""


class Encoders:
    """One replica.

    Args:
        is_open: whether others than this machine's user can reach the service. Who has its token is
            an app, which asks its visitors; without one, only what is offered is loaded.
    """

    def __init__(self, is_open: bool = True) -> None:
        settings = Settings.from_env()
        self._token = settings.service_token
        self._service = LocalService(settings, offered_only=is_open and self._token is None)
        self._noting: set[asyncio.Task[Any]] = set()
        first = self._service.models()[0]
        if first.on_disk:  # ready when it is said to be
            self._service.load(first.id)

    def __serve_build_asgi_app__(self) -> Starlette:
        """The API of this replica."""
        return create_app(self._service, token=self._token, on_used=self._note)

    def check_health(self) -> None:
        """Raise where this replica cannot answer any more."""
        self._service.models()

    async def _hold(self, model: str) -> str:
        """Have the router know that this replica has a model; the work has loaded it already."""
        return model

    # Not as a decorator, which has no types where Ray is not installed; Ray wants the same name.
    _hold = serve.multiplexed(max_num_models_per_replica=_MODELS_A_REPLICA)(_hold)

    def _note(self, model: str) -> None:
        task = asyncio.ensure_future(self._hold(model))
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)


_deployment = serve.deployment(
    name=NAME,
    num_replicas=None,
    autoscaling_config={"min_replicas": 1, "max_replicas": 4, "target_ongoing_requests": 8},
    max_ongoing_requests=64,  # what waits for a batch too; beyond it, other replicas are asked
    max_queued_requests=512,  # beyond it, visitors are told to come again
    health_check_period_s=10,
    health_check_timeout_s=30,
    graceful_shutdown_wait_loop_s=1,
    graceful_shutdown_timeout_s=60,
    ray_actor_options={"num_cpus": 1},
    logging_config={"enable_access_log": False},
)(serve.ingress()(Encoders))


def build(arguments: Mapping[str, int] | None = None) -> Any:
    """The application, as `deploy/serve.yaml` names it.

    Args:
        arguments: `replicas` and `cores` of each, and 0 for `is_open` on this machine alone, where
            they do not come from a config file.
    """
    given = dict(arguments or {})
    if not given:
        return _deployment.bind()
    n, cores = given.pop("replicas", 1), given.pop("cores", 1)
    is_open = bool(given.pop("is_open", 1))
    return _deployment.options(
        autoscaling_config=None, num_replicas=n, ray_actor_options={"num_cpus": cores}
    ).bind(is_open)
