"""Maps of vectors: exact, within limits, with progress; one layer alone or several on one map."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.spatial import procrustes
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness

from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import RequestError
from contextlens.maps import layouts
from contextlens.maps.compiled import WAITING, umap_functions
from contextlens.maps.layouts import optimize, pca
from contextlens.maps.map_quality import measure
from contextlens.maps.neighbors import nearest
from contextlens.maps.plan import placing_bytes, placing_seconds, stage_seconds
from contextlens.maps.progress import Stages
from contextlens.maps.projection import Map, project
from contextlens.maps.request import METHODS, MapSettings, Method
from contextlens.maps.vector_space import METRICS, Metric, VectorSpace

N_LAYERS = 4
by_method = pytest.mark.parametrize("method", METHODS)


def blobs(n: int, d: int = 12, seed: int = 0) -> np.ndarray:
    """Vectors in six clusters, far from the origin."""
    random = np.random.default_rng(seed)
    centres = 3 * random.normal(size=(6, d))
    return (centres[random.integers(0, 6, n)] + random.normal(size=(n, d)) + 2).astype(np.float32)


def layers(n: int, *, drift: float = 0.5, d: int = 16) -> np.ndarray:
    """Clusters that drift from layer to layer, each layer far from the others and longer."""
    random = np.random.default_rng(0)
    first = 2 * random.normal(size=(6, d))[random.integers(0, 6, n)] + random.normal(size=(n, d))
    steps = drift * random.normal(size=(N_LAYERS, n, d)).cumsum(axis=0)
    places = 30 * random.normal(size=(N_LAYERS, 1, d))
    sizes = np.arange(1, N_LAYERS + 1)[:, None, None]
    return (sizes * (first + steps) + places).astype(np.float32)


def assert_same(first: Map, second: Map) -> None:
    np.testing.assert_array_equal(first.coordinates, second.coordinates)
    for one, other in zip(first.neighbors, second.neighbors, strict=True):
        np.testing.assert_array_equal(one.indices, other.indices)
    assert first.quality == second.quality


# The same every time


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "n_components"), [("umap", 2), ("umap", 3), ("tsne", 3), ("pca", 2)]
)
def test_a_map_is_the_same_again_bit_for_bit(method: Method, n_components: int) -> None:
    settings = MapSettings(method=method, n_components=n_components)
    vectors = blobs(300)
    vectors.flags.writeable = False
    first = project(vectors, settings)
    project(blobs(250, seed=1), MapSettings(seed=5))  # what ran between does not matter
    second = project(blobs(300), settings)
    assert_same(first, second)
    assert first.coordinates.shape == (1, 300, n_components)
    assert first.coordinates.dtype == np.float32
    assert first.method == method
    assert first.reason == ""
    assert first.quality[0] is not None
    assert first.quality[0].trustworthiness > 0.85


@pytest.mark.slow
def test_maps_made_at_once_are_those_made_one_by_one() -> None:
    wanted = [MapSettings(seed=0), MapSettings(seed=1), MapSettings(method="tsne"), MapSettings()]
    vectors = blobs(400)
    alone = [project(vectors, settings) for settings in wanted]
    together: dict[int, Map] = {}

    def make(i: int) -> None:
        together[i] = project(vectors, wanted[i])

    threads = [threading.Thread(target=make, args=(i,)) for i in reversed(range(len(wanted)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, expected in enumerate(alone):
        assert_same(together[i], expected)


def test_numpys_own_random_state_is_neither_read_nor_changed() -> None:
    np.random.seed(1)
    before = np.random.get_state()[1].copy()  # type: ignore[index, union-attr]
    first = project(blobs(60), MapSettings())
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # type: ignore[index]
    np.random.seed(2)
    assert_same(first, project(blobs(60), MapSettings()))


def test_another_seed_gives_another_umap_and_the_same_pca() -> None:
    vectors = blobs(200)
    maps = [project(vectors, MapSettings(seed=seed)).coordinates for seed in (0, 1)]
    assert not np.array_equal(*maps)
    flat = [project(vectors, MapSettings(method="pca", seed=s)).coordinates for s in (0, 1)]
    np.testing.assert_array_equal(*flat)


# Against the libraries


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n", "n_neighbors"), [(300, 10), (300, 40)])
def test_links_and_curve_are_umap_learns(metric: Metric, n: int, n_neighbors: int) -> None:
    """The map is that of umap-learn's own graph and curve, from the PCA start, by our layout."""
    vectors = blobs(n)
    settings = MapSettings(metric=metric, n_neighbors=n_neighbors, min_dist=0.3, seed=3)
    ours = project(vectors, settings)
    others = slice(0, n_neighbors - 1)
    indices = np.column_stack([np.arange(n), ours.neighbors[0].indices[:, others]])
    distances = np.column_stack([np.zeros(n), ours.neighbors[0].distances[:, others]])
    with umap_functions() as umap:
        mapper = umap.UMAP(
            n_neighbors=n_neighbors,
            min_dist=0.3,
            transform_mode="graph",
            precomputed_knn=(indices.astype(np.int32), distances.astype(np.float32)),
            random_state=0,
            n_jobs=1,
        )
        with pytest.warns(UserWarning, match="not an NNDescent object"):
            mapper.fit(vectors)
    start = pca(VectorSpace.of(vectors, metric).rows, 2)
    start = start * (10.0 / float(np.abs(start).max()))
    shaking = np.random.RandomState(3).normal(scale=1e-4, size=start.shape)
    expected = optimize(
        mapper.graph_,
        (start + shaking).astype(np.float32),
        a=mapper._a,
        b=mapper._b,
        n_epochs=settings.n_epochs(n),
        seed=3,
    )
    np.testing.assert_array_equal(ours.coordinates[0], expected)


@pytest.mark.slow
def test_full_effort_is_as_good_as_plain_umap_learn() -> None:
    vectors = blobs(600)
    with umap_functions() as umap:
        plain = umap.UMAP(metric="cosine", random_state=0, n_jobs=1).fit_transform(vectors)
    theirs = trustworthiness(vectors, plain, n_neighbors=15, metric="cosine")
    ours = project(vectors, MapSettings(effort="full")).quality[0]
    assert ours is not None
    assert ours.trustworthiness > theirs - 0.01


@pytest.mark.parametrize(("n", "d"), [(200, 12), (20, 30)])
def test_pca_is_scikit_learns_but_for_signs(n: int, d: int) -> None:
    vectors = blobs(n, d)
    ours = project(vectors, MapSettings(method="pca", metric="euclidean", n_components=3))
    theirs = PCA(3).fit_transform(vectors.astype(np.float64))
    scale = np.abs(ours.coordinates).max() / np.abs(theirs).max()
    np.testing.assert_allclose(
        np.abs(ours.coordinates[0]),
        scale * np.abs(theirs),
        atol=1e-4 * scale * np.abs(theirs).max(),
    )


def test_tsne_is_scikit_learns_on_the_same_start() -> None:
    random = np.random.default_rng(0)
    sheet = random.uniform(size=(200, 2)) * [2, 1] @ random.normal(size=(2, 12))
    vectors = sheet + 0.01 * random.normal(size=sheet.shape)
    ours = project(vectors, MapSettings(method="tsne", metric="euclidean", n_neighbors=20))
    # Thousands of steps carry rounding far; the arrangement of a sheet is the same.
    assert procrustes(ours.coordinates[0], scikit_learns_tsne(vectors, 2))[2] < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [2, 3])
def test_tsne_is_as_faithful_as_scikit_learns(n_components: int) -> None:
    vectors = blobs(200)
    settings = MapSettings(
        method="tsne", metric="euclidean", n_neighbors=20, n_components=n_components
    )
    ours, theirs = (
        project(vectors, settings).coordinates[0],
        scikit_learns_tsne(vectors, n_components),
    )
    least = trustworthiness(vectors, theirs, n_neighbors=10) - 0.005
    assert trustworthiness(vectors, ours, n_neighbors=10) > least


def scikit_learns_tsne(vectors: np.ndarray, n_components: int) -> np.ndarray:
    rows = VectorSpace.of(vectors, "euclidean").rows
    start = pca(rows, n_components)
    start = (start / np.std(start[:, 0]) * 1e-4).astype(np.float32)
    theirs = TSNE(n_components, perplexity=20, init=start, random_state=0)
    found: np.ndarray = theirs.fit_transform(rows)
    return found


@pytest.mark.parametrize("n_components", [2, 3])
def test_tsne_in_two_threads_is_that_of_one(
    n_components: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = MapSettings(method="tsne", n_components=n_components)
    monkeypatch.setattr(layouts, "_N_LATE", 20)  # threads that wait for a busy machine are slow
    monkeypatch.setattr(layouts, "_N_EARLY", 10)
    alone = project(blobs(150), settings)
    monkeypatch.setattr(layouts, "_ONE_THREAD_BELOW", 0)
    assert_same(project(blobs(150), settings), alone)


# Small, equal and odd vectors, and settings


@by_method
@pytest.mark.parametrize("n", [1, 3, 4, 14, 15])
def test_few_points_have_a_map(method: Method, n: int) -> None:
    found = project(blobs(n), MapSettings(method=method, n_neighbors=2))
    assert found.coordinates.shape == (1, n, 2)
    assert np.isfinite(found.coordinates).all()
    assert found.method == (method if n >= 15 else "pca")
    assert bool(found.reason) == (n < 15 and method != "pca")
    assert (found.quality[0] is None) == (n < 4)
    if n == 1:
        assert not found.coordinates.any()


def test_the_reason_says_how_many_points_there_are() -> None:
    reason = project(blobs(7), MapSettings(method="tsne")).reason
    assert reason == "PCA was drawn: t-SNE needs at least 15 points, and there are 7."
    assert "there is 1." in project(blobs(1), MapSettings()).reason


@pytest.mark.parametrize(("method", "most"), [("umap", 39), ("tsne", 13)])
def test_too_many_neighbors_are_brought_down_and_said(method: Method, most: int) -> None:
    found = project(blobs(40), MapSettings(method=method, n_neighbors=200))
    assert found.method == method
    assert f"used {most} neighbours" in found.reason
    assert "not the 200" in found.reason


@pytest.mark.parametrize("method", ["umap", "pca"])
@pytest.mark.parametrize(
    ("metric", "value"), [("cosine", 0.0), ("cosine", 0.1), ("euclidean", 1e6)]
)
def test_equal_vectors_are_one_place(method: Method, metric: Metric, value: float) -> None:
    vectors = np.full((50, 7), value, np.float32)
    found = project(vectors, MapSettings(method=method, metric=metric))
    assert found.method == "pca"
    assert method == "pca" or "all 50 vectors are the same" in found.reason
    assert not found.coordinates.any()
    assert found.quality[0] is not None
    assert np.isfinite(found.quality[0].trustworthiness)


@pytest.mark.parametrize("method", ["umap", "tsne"])
@pytest.mark.parametrize("metric", METRICS)
def test_zeros_and_copies_among_others_do_no_harm(method: Method, metric: Metric) -> None:
    vectors = np.concatenate([blobs(80), np.zeros((5, 12)), np.tile(blobs(2), (40, 1))])
    found = project(vectors, MapSettings(method=method, metric=metric))
    assert found.method == method
    assert np.isfinite(found.coordinates).all()
    assert np.isfinite(found.neighbors[0].distances).all()
    assert (found.coordinates[0].std(axis=0) > 0.1).all()


@pytest.mark.parametrize("method", ["umap", "tsne"])
def test_vectors_on_a_line_or_of_one_dimension_work(method: Method) -> None:
    line = np.outer(np.linspace(1, 9, 40), np.arange(1, 6))
    for vectors in (line, line[:, :1]):
        found = project(vectors, MapSettings(method=method, metric="euclidean"))
        assert found.method == method
        assert np.isfinite(found.coordinates).all()


def test_whole_numbers_and_doubles_are_vectors_too() -> None:
    numbers = np.random.default_rng(0).integers(-9, 9, size=(40, 6))
    settings = MapSettings()
    assert_same(project(numbers, settings), project(numbers.astype(np.float64), settings))


@pytest.mark.parametrize(
    ("vectors", "told"),
    [
        (np.where(np.arange(40)[:, None] < 3, np.nan, np.ones((40, 4))), "3 of 40 vectors"),
        (np.full((20, 4), np.inf), "20 of 20 vectors"),
        (np.zeros((0, 4)), "at least one vector"),
        (np.zeros(4), r"\(n_layers, n, d\)"),
        (np.zeros((0, 4, 4)), "at least one vector"),
        (np.full((2, 20, 3), np.nan), "40 of 40 vectors"),
        ([["a"]], "numbers"),
    ],
)
def test_bad_vectors_are_refused(vectors: Any, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        project(vectors, MapSettings())


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("method", ["isomap", "", None, 3, ["umap"], "UMAP"]),
        ("metric", ["manhattan", None, 1.0]),
        ("effort", ["slow", None, True]),
        ("n_components", [1, 4, 2.0, "2", True, None, float("nan")]),
        ("n_neighbors", [1, 201, 10**30, 15.0, False, None, float("inf")]),
        ("min_dist", [-0.01, 0.991, float("nan"), float("inf"), True, "0.1", None, 10**5000]),
        ("seed", [-1, 2**31, 0.0, None, True, 10**5000]),
    ],
)
def test_settings_that_are_not_allowed_are_refused(name: str, values: list[Any]) -> None:
    for value in values:
        with pytest.raises(RequestError, match=f"^{name} of a map was .* must be"):
            MapSettings(**{name: value})


@pytest.mark.parametrize(
    "given",
    [
        {"method": "tsne", "n_components": 3, "metric": "euclidean", "effort": "full"},
        {"n_neighbors": np.int64(200), "min_dist": 0, "seed": 2**31 - 1},
        {"n_neighbors": 2, "min_dist": np.float32(0.5), "seed": 0},
        {},
    ],
)
def test_settings_are_told_and_read_back(given: dict[str, Any]) -> None:
    settings = MapSettings(**given)
    told = json.loads(json.dumps(settings.as_dict()))
    assert MapSettings.from_dict(told) == settings


def test_unknown_settings_are_refused() -> None:
    with pytest.raises(RequestError, match="perplexity: no such setting"):
        MapSettings.from_dict({"perplexity": 30})


# Progress and cost


class CancelledError(Exception):
    pass


def listened(make: Callable[[Callable[[str, float], None]], Any]) -> list[tuple[str, float]]:
    calls: list[tuple[str, float]] = []
    make(lambda stage, share: calls.append((stage, share)))
    return calls


@pytest.mark.slow
@by_method
@pytest.mark.parametrize("n_layers", [1, 3])
def test_progress_names_every_stage_and_rises_to_one(method: Method, n_layers: int) -> None:
    settings = MapSettings(method=method, effort="full")
    vectors = blobs(200 * n_layers).reshape(n_layers, 200, 12)
    calls = listened(lambda tell: project(vectors, settings, on_progress=tell))
    shares = [share for _, share in calls]
    assert shares == sorted(shares)
    assert shares[0] >= 0.0
    assert shares[-1] == 1.0
    seen = [stage for i, (stage, _) in enumerate(calls) if i == 0 or calls[i - 1][0] != stage]
    assert seen == n_layers * list(stage_seconds(200, 12, settings, method=method))


@pytest.mark.parametrize(("method", "n_layers"), [("umap", 3), ("tsne", 1), ("pca", 1)])
def test_what_on_progress_raises_ends_the_work(method: Method, n_layers: int) -> None:
    settings = MapSettings(method=method, effort="full")
    vectors = blobs(200 * n_layers).reshape(n_layers, 200, 12)
    stages = list(stage_seconds(200, 12, settings, method=method))
    for wanted in stages:
        told_after: list[str] = []

        def stop(
            stage: str, share: float, wanted: str = wanted, after: list[str] = told_after
        ) -> None:
            after.append(stage)
            if stage == wanted:
                raise CancelledError(stage)

        with pytest.raises(CancelledError, match=wanted):
            project(vectors, settings, on_progress=stop)
        assert told_after[-1] == wanted
        assert told_after.count(wanted) == 1  # no progress after it raised
    # The next map is as if nothing had happened, in this thread and in others.
    assert project(blobs(60), settings).method == method


def test_umap_can_be_ended_in_the_middle_of_arranging() -> None:
    calls = 0

    def stop(stage: str, share: float) -> None:
        nonlocal calls
        calls += stage == "Arranging the points"
        if calls == 4:
            raise CancelledError

    with pytest.raises(CancelledError):
        project(blobs(3000), MapSettings(effort="full"), on_progress=stop)
    assert calls == 4


def test_waiting_for_another_map_is_told_and_can_be_ended() -> None:
    def stop(stage: str, share: float) -> None:
        if stage == WAITING:
            raise CancelledError

    caught: list[BaseException] = []

    def wait() -> None:
        try:
            project(blobs(50), MapSettings(), on_progress=stop)
        except CancelledError as error:
            caught.append(error)

    with umap_functions():
        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(timeout=60)
    assert len(caught) == 1


def test_shares_of_stages_never_fall() -> None:
    calls: list[tuple[str, float]] = []
    stages = Stages(lambda *call: calls.append(call), {"a": 1.0, "b": 3.0})
    first = stages.stage("a")
    for share in (-1.0, 0.5, 0.2, 7.0):
        first(share)
    stages.waiting(WAITING, 0.0)
    stages.stage("b")(0.5)
    stages.done("b")
    assert [round(share, 3) for _, share in calls] == [
        0.0, 0.0, 0.125, 0.125, 0.25, 0.25, 0.25, 0.625, 1.0,
    ]  # fmt: skip


@by_method
def test_estimates_grow_with_everything_that_costs(method: Method) -> None:
    settings = MapSettings(method=method)
    sizes = (1, 10, 100, 1000, 10_000, 50_000, 200_000)
    seconds = [placing_seconds(n, 384, settings) for n in sizes]
    n_bytes = [placing_bytes(n, 384, settings) for n in sizes]
    assert all(a < b for values in (seconds, n_bytes) for a, b in pairwise(values))
    assert placing_seconds(10_000, 1024, settings) > seconds[4]
    assert placing_bytes(10_000, 1024, settings) > n_bytes[4]
    layers = placing_seconds(1000, 384, settings, n_layers=7)
    assert 3 * seconds[3] < layers < 14 * seconds[3]
    if method == "umap":
        assert placing_seconds(10_000, 384, MapSettings(effort="full")) > seconds[4]


# Several layers on one map


by_kind = pytest.mark.parametrize(
    ("method", "metric"),
    [("umap", "cosine"), ("umap", "euclidean"), ("tsne", "cosine"), ("pca", "euclidean")],
)


@pytest.mark.slow
@by_kind
def test_the_last_layer_has_its_own_map_and_all_others_follow_from_it(
    method: Method, metric: Metric
) -> None:
    vectors = layers(80)
    settings = MapSettings(method=method, metric=metric)
    last = project(vectors[-1], settings)
    found = project(vectors, settings)
    assert found.coordinates.shape == (N_LAYERS, 80, 2)
    assert found.coordinates.dtype == np.float32
    assert (found.method, found.reason) == (method, "")
    np.testing.assert_array_equal(found.coordinates[-1], last.coordinates[0])
    assert found.quality[-1] == last.quality[0]
    assert_same(found, project(vectors, settings, last=last))
    # Layers above do not depend on those below.
    np.testing.assert_array_equal(found.coordinates[1:], project(vectors[1:], settings).coordinates)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["umap", "tsne"])
def test_each_layer_is_as_trustworthy_as_alone_and_moves_less(
    service: EncoderService, method: Method
) -> None:
    encoded = service.encode(BUNDLED_ID, list(baseline_sentences())[:25])
    vectors = np.concatenate([one.hidden for one in encoded], axis=1)
    settings = MapSettings(method=method)
    found = project(vectors, settings)
    alone = [project(layer, settings) for layer in vectors]
    for linked, own in zip(found.quality, (one.quality[0] for one in alone), strict=True):
        assert linked is not None
        assert own is not None
        assert linked.trustworthiness >= own.trustworthiness - 0.0101
    apart = replace(found, coordinates=np.concatenate([one.coordinates for one in alone]))
    assert np.mean(found.moved) < np.mean(apart.moved)


def test_layers_of_pca_are_their_own_up_to_a_rotation() -> None:
    vectors = layers(40)
    found = project(vectors, MapSettings(method="pca", metric="euclidean"))
    for places, rows in zip(found.coordinates, vectors, strict=True):
        own = pca(VectorSpace.of(rows, "euclidean").rows, 2)
        np.testing.assert_allclose(distances(places), distances(own), atol=1e-4)
    for below, above in pairwise(found.coordinates.astype(np.float64)):
        np.testing.assert_allclose(below.mean(axis=0), above.mean(axis=0), atol=1e-5)
        turn = orthogonal_procrustes(below - below.mean(axis=0), above - above.mean(axis=0))[0]
        np.testing.assert_allclose(turn, np.eye(2), atol=1e-4)


def test_the_order_of_points_does_not_matter_to_pca_at_any_layer() -> None:
    vectors = layers(40)
    order = np.random.default_rng(1).permutation(40)
    settings = MapSettings(method="pca")
    plain, mixed = project(vectors, settings), project(vectors[:, order], settings)
    np.testing.assert_allclose(plain.coordinates[:, order], mixed.coordinates, atol=1e-4)
    np.testing.assert_allclose(plain.moved, mixed.moved, atol=1e-4)


def test_how_far_points_move_is_a_share_of_the_diagonal() -> None:
    square = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float32)
    found = project(np.random.default_rng(0).normal(size=(2, 4, 3)), MapSettings(method="pca"))
    same = replace(found, coordinates=np.stack([square, 3 * square + 7]))
    assert same.moved == (0.0,)
    mirrored = replace(found, coordinates=np.stack([square, square[[1, 0, 3, 2]]]))
    assert mirrored.moved == pytest.approx((1 / np.sqrt(2),))
    opposite = replace(found, coordinates=np.stack([square, square[::-1]]))
    assert opposite.moved == pytest.approx((1.0,))


def test_a_map_of_layers_can_be_stopped_at_any_of_them_and_never_goes_back() -> None:
    told: list[float] = []
    project(layers(60), MapSettings(), on_progress=lambda _, share: told.append(share))
    assert told == sorted(told)
    assert told[-1] == 1
    for stop in (0.1, 0.4, 0.8):

        def report(_: str, share: float, stop: float = stop) -> None:
            if share > stop:
                raise InterruptedError

        with pytest.raises(InterruptedError):
            project(layers(60), MapSettings(), on_progress=report)


def test_each_layer_is_measured_in_its_own_full_space() -> None:
    vectors = layers(60)
    found = project(vectors, MapSettings(metric="euclidean"))
    for i, layer in enumerate(vectors):
        expected = nearest(VectorSpace.of(layer, "euclidean"), 15)
        np.testing.assert_array_equal(found.neighbors[i].indices, expected.indices)
        np.testing.assert_array_equal(found.neighbors[i].distances, expected.distances)
        assert found.quality[i] == measure(VectorSpace.of(layer, "euclidean"), found.coordinates[i])


def test_a_point_that_does_not_change_stays_in_its_place() -> None:
    """Where layers are equal, only the random pushes move points."""
    vectors = np.repeat(layers(60, drift=0)[:1], N_LAYERS, axis=0)
    assert max(project(vectors, MapSettings()).moved) < 0.06


@pytest.mark.parametrize("shape", [(2, 40, 5), (3, 14, 5), (3, 3, 2)])
def test_few_points_at_several_layers_have_a_map(shape: tuple[int, int, int]) -> None:
    found = project(np.random.default_rng(0).normal(size=shape), MapSettings())
    assert found.coordinates.shape == (*shape[:2], 2)
    assert np.isfinite(found.coordinates).all()
    assert (found.method == "pca") == bool(found.reason) == (shape[1] < 15)
    assert all((quality is None) == (shape[1] < 4) for quality in found.quality)


@pytest.mark.parametrize("metric", METRICS)
def test_a_layer_of_equal_or_zero_vectors_does_no_harm(metric: Metric) -> None:
    vectors = layers(40)
    vectors[1] = 3.0
    vectors[2] = 0.0
    found = project(vectors, MapSettings(metric=metric))
    assert np.isfinite(found.coordinates).all()
    assert found.method == "umap"
    same = project(np.ones((3, 20, 4)), MapSettings(metric=metric))
    assert same.method == "pca"
    assert "the same" in same.reason


def distances(places: np.ndarray) -> np.ndarray:
    return np.linalg.norm(places[:, None] - places[None], axis=-1)
