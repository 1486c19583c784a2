"""One address behind which two services hold two revisions of a model, and answer in turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from contextlens.core.remote.service import RemoteService
from contextlens.core.service import LocalService
from contextlens.core.settings import Settings
from contextlens.serving.api import create_app
from tests.support.remote_server import serving
from tests.support.tiny_models import build

__all__ = ["MODEL", "TwoRevisions", "two_revisions"]

MODEL = "folder:bert"


@dataclass
class TwoRevisions:
    """The client of that address, the two services, and whose turn it is for each method."""

    remote: RemoteService
    services: tuple[LocalService, LocalService]
    turns: dict[str, Iterator[int]]

    def alternate(self, *methods: str) -> None:
        """Have the second service answer every other call of some methods, the first the rest."""
        self.turns = {method: cycle((0, 1)) for method in methods}

    def replace(self) -> None:
        """Have the second service answer everything from now on."""
        self.turns = {"": cycle((1,))}


@contextmanager
def two_revisions(folder: Path) -> Iterator[TwoRevisions]:
    """Both services, whose models are built in a folder; the first answers at the beginning."""
    services = []
    for seed in (0, 1):
        build("bert", folder / str(seed) / "bert", seed=seed)
        services.append(
            LocalService(Settings(model_folder=folder / str(seed), allow_downloads=False))
        )
    apps = [create_app(service) for service in services]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        method = scope.get("path", "").removeprefix("/v1/")
        turns = own.turns.get(method) or own.turns.get("")
        await apps[next(turns) if turns else 0](scope, receive, send)

    with serving(app) as url, closing(RemoteService(url)) as remote:
        own = TwoRevisions(remote, (services[0], services[1]), {})
        yield own
