"""The service on Ray Serve: one `LocalService` in each replica.

A request names its model in a header, so that Ray's router can prefer a replica that has it in
memory. Batches form inside a replica, whose `LocalService` combines concurrent requests.
Importing this module needs the extra `cluster`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from ray import serve
from starlette.applications import Starlette

from contextlens.core.service import LocalService
from contextlens.core.settings import Settings
from contextlens.serving.api import create_app

__all__ = ["NAME", "build"]

NAME = "contextlens"
_MODELS_A_REPLICA = 8
"""The models that a replica registers; its `LocalService` decides how many stay in memory."""


class Encoders:
    """One replica.

    Args:
        is_open: True if users of other machines can reach the service. A client with its token is
            trusted to control its visitors' access; without a token, only offered models load.
    """

    def __init__(self, is_open: bool = True) -> None:
        settings = Settings.from_env()
        self._token = settings.service_token
        self._service = LocalService(settings, offered_only=is_open and self._token is None)
        self._noting: set[asyncio.Task[Any]] = set()
        first = self._service.models()[0]
        if first.on_disk:  # loaded before the replica reports that it is ready
            self._service.load(first.id)

    def __serve_build_asgi_app__(self) -> Starlette:
        """The API of this replica."""
        return create_app(self._service, token=self._token, on_used=self._note)

    def check_health(self) -> None:
        """Raise an error if this replica can no longer answer."""
        self._service.models()

    async def _hold(self, model: str) -> str:
        """Tell the router that this replica has a model, which is already loaded."""
        return model

    # Not a decorator, which has no types if Ray is not installed; Ray requires the same name.
    _hold = serve.multiplexed(max_num_models_per_replica=_MODELS_A_REPLICA)(_hold)

    def _note(self, model: str) -> None:
        task = asyncio.ensure_future(self._hold(model))
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)


_deployment = serve.deployment(
    name=NAME,
    num_replicas=None,
    autoscaling_config={"min_replicas": 1, "max_replicas": 4, "target_ongoing_requests": 8},
    max_ongoing_requests=64,  # including waiting ones; beyond it, other replicas are used
    max_queued_requests=512,  # beyond it, visitors are told to try again
    health_check_period_s=10,
    health_check_timeout_s=30,
    graceful_shutdown_wait_loop_s=1,
    graceful_shutdown_timeout_s=60,
    ray_actor_options={"num_cpus": 1},
    logging_config={"enable_access_log": False},
)(serve.ingress()(Encoders))


def build(arguments: Mapping[str, int] | None = None) -> Any:
    """Return the application; `deploy/serve.yaml` names this function.

    Args:
        arguments: `replicas`, the `cores` of each, and `is_open` (0 for a service on this machine
            only), if they do not come from a config file.
    """
    given = dict(arguments or {})
    if not given:
        return _deployment.bind()
    n, cores = given.pop("replicas", 1), given.pop("cores", 1)
    is_open = bool(given.pop("is_open", 1))
    return _deployment.options(
        autoscaling_config=None, num_replicas=n, ray_actor_options={"num_cpus": cores}
    ).bind(is_open)
