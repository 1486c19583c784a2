"""Ray's part: replicas that are found by their models, and replaced when they end."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx2
import numpy as np
import pytest
import yaml

from contextlens.core import BUNDLED_ID
from contextlens.core.errors import ServiceAwayError
from contextlens.core.remote.service import RemoteService
from contextlens.core.remote.wire import (
    MODEL_HEADER,
    PREFIX,
    REQUEST_TYPE,
    pack_request,
    unpack_answer,
)
from tests.support.ports import free_port
from tests.support.ray_service import RayService, ray_service
from tests.support.tiny_models import ALL

pytestmark = [pytest.mark.cluster, pytest.mark.ray]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def remote(on_ray: RayService) -> Iterator[RemoteService]:
    with closing(RemoteService(on_ray.address)) as service:
        yield service


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray's own use of pydantic
def test_the_config_file_is_one_of_ray_serve() -> None:
    from ray.serve.schema import ServeDeploySchema

    from contextlens.serving.deployment import NAME, build

    given = yaml.safe_load((ROOT / "deploy" / "serve.yaml").read_text(encoding="utf-8"))
    (application,) = ServeDeploySchema.model_validate(given).applications
    module, _, function = application.import_path.partition(":")
    assert (module, function) == (build.__module__, build.__name__)
    assert application.name == NAME
    assert [deployment.name for deployment in application.deployments] == [NAME]
    assert build({})._bound_deployment.name == NAME


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_config_file_says_what_the_deployment_says() -> None:
    from contextlens.serving.deployment import build

    given = yaml.safe_load((ROOT / "deploy" / "serve.yaml").read_text(encoding="utf-8"))
    stated = dict(given["applications"][0]["deployments"][0])
    own = build({})._bound_deployment._deployment_config
    for name in ("max_ongoing_requests", "max_queued_requests", "graceful_shutdown_timeout_s"):
        assert stated[name] == getattr(own, name)
    assert stated["autoscaling_config"].items() >= {"min_replicas": 1, "max_replicas": 4}.items()
    assert own.autoscaling_config.max_replicas == 4


def test_the_description_comes_through_ray(on_ray: RayService) -> None:
    with httpx2.Client(trust_env=False) as client:
        assert json.loads(client.get(f"{on_ray.address}/v1/openapi.json").text)["openapi"]
        assert client.get(f"{on_ray.address}/healthz").json() == {"status": "ok"}


def test_a_model_stays_with_the_replica_that_has_it(remote: RemoteService) -> None:
    """The other replica does not have it: if either were asked, half of the answers would say so.

    The other may load a model while its replica is busy; then the next model is tried.
    """
    models, ask = iter(ALL), remote._connection.request

    def stays() -> bool:
        model = f"folder:{next(models)}"
        remote.load(model)
        return all(ask("spec", {"model": model}).loaded for _ in range(12))

    assert _until(stays)


def test_a_replica_that_is_killed_is_not_missed(remote: RemoteService, on_ray: RayService) -> None:
    """The other gets its questions again, and a new replica takes its place."""
    killed = on_ray.replicas()[0]
    errors: list[BaseException] = []

    def visitor() -> None:
        try:
            for turn in range(30):
                remote.encode(BUNDLED_ID, [f"While one ends, {turn}"])
        except BaseException as exc:  # noqa: BLE001 - shown by the test
            errors.append(exc)

    threads = [threading.Thread(target=visitor) for _ in range(4)]
    for thread in threads:
        thread.start()
    killed.kill()
    for thread in threads:
        thread.join()
    assert errors == []
    assert _until(lambda: len(on_ray.replicas()) == 2)


def test_without_its_controller_it_answers_and_gets_a_new_one(
    remote: RemoteService, on_ray: RayService
) -> None:
    killed = on_ray.controller()
    assert killed is not None
    killed.kill()
    for turn in range(10):
        assert remote.encode(BUNDLED_ID, [f"While nobody watches, {turn}"])
    assert _until(lambda: on_ray.controller() not in {None, killed})


def test_a_replica_that_leaves_finishes_what_it_has(tmp_path: Path) -> None:
    """Two long questions, one for each replica, each asked once; then one replica must leave.

    Without the 30 seconds that Ray keeps each replica for, whether it has work or not.
    """
    env = {"RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": "0.5"}
    texts = [
        f"{number} and {'many more words of the very same kind ' * 12}" for number in range(250)
    ]
    body = pack_request({"model": BUNDLED_ID, "texts": texts, "layers": [0]})
    headers = {"content-type": REQUEST_TYPE, MODEL_HEADER: BUNDLED_ID}
    statuses: list[int] = []

    def ask(address: str) -> None:
        with httpx2.Client(trust_env=False, timeout=240) as client:
            answer = client.post(f"{address}{PREFIX}/encode", content=body, headers=headers)
            statuses.append(answer.status_code)
            assert len(unpack_answer("encode", answer.content)) == len(texts)

    with (
        ray_service(tmp_path / "log.txt", replicas=2, env=env) as ray,
        ThreadPoolExecutor(2) as pool,
        ray.shrinker() as begin,
    ):
        both = ray.replicas()
        asked = [pool.submit(ask, ray.address) for _ in range(2)]
        assert _until(lambda: all(replica.cpu_percent() > 30 for replica in both))
        begin()
        for question in asked:
            question.result()
        assert _until(lambda: len(ray.replicas()) == 1)
    assert statuses == [200, 200]


def test_all_of_it_is_killed_and_started_again_in_the_middle_of_questions(tmp_path: Path) -> None:
    """Visitors are told that it is away, and get answers again once it is back."""
    port, asked, told, errors = free_port(), list[str](), list[str](), list[BaseException]()
    over = threading.Event()

    def visitor(number: int) -> None:
        while not over.is_set():
            try:
                asked.append(remote.encode(BUNDLED_ID, [f"{number} asks {len(asked)}"])[0].text)
            except ServiceAwayError as exc:
                told.append(str(exc))
            except BaseException as exc:  # noqa: BLE001 - shown by the test
                errors.append(exc)

    with ray_service(tmp_path / "first.log", port=port) as first:
        remote = RemoteService(first.address)
        before = remote.encode(BUNDLED_ID, ["The python sleeps."])[0].hidden
        threads = [threading.Thread(target=visitor, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        assert _until(lambda: len(asked) > 20)
        first.kill()
        assert _until(lambda: len(told) >= 4)
    with ray_service(tmp_path / "second.log", port=port):
        n_before = len(asked)
        assert _until(lambda: len(asked) > n_before + 20)
        over.set()
        for thread in threads:
            thread.join()
        after = remote.encode(BUNDLED_ID, ["The python sleeps."])[0].hidden
        remote.close()
    assert errors == []
    assert all("does not answer" in sentence for sentence in told)
    assert np.allclose(before, after, atol=1e-4)


def _until(condition: object) -> bool:
    assert callable(condition)
    pause = threading.Event()
    return any(condition() or pause.wait(0.25) for _ in range(480))
