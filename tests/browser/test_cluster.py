"""The app with its models on Ray: the model's numbers, and a clear page while Ray is away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.gate import Gate, gate
from tests.browser.visit import Visit
from tests.support.ray_service import RayService

pytestmark = [pytest.mark.browser, pytest.mark.cluster, pytest.mark.ray]
AWAY = "does not answer"


@pytest.fixture(scope="module")
def way(on_ray: RayService) -> Iterator[Gate]:
    with gate(on_ray.address) as own:
        yield own


@pytest.fixture(scope="module")
def served(run_app: Callable[..., str], app_settings: Mapping[str, str], way: Gate) -> str:
    return run_app("app.py", {**app_settings, "CONTEXTLENS_SERVICE_URL": way.address})


def test_pages_show_the_models_numbers(
    visit: Callable[..., Visit], served: str, facts: Mapping[str, Any]
) -> None:
    """Of the default view's words, those measured on the model by itself."""
    reader = visit("/meaning", address=served)
    measured = facts["bundled_model_cosines"]
    shown = reader.main.inner_text()
    for names in ("pet~snake", "pet~programming", "language~snake", "language~programming"):
        assert f"{measured[names][-1]:.2f}" in shown
    reader.goto("/attention")
    assert reader.figure.is_visible()
    assert reader.reading


def test_while_ray_is_away_pages_say_so_and_show_what_they_have(
    visit: Callable[..., Visit], served: str, way: Gate
) -> None:
    reader = visit("/meaning", address=served)
    before = reader.reading
    way.shut()
    try:
        box = reader.side.get_by_role("textbox", name="Sentence A")
        with reader.rerun():
            box.fill("I feed my pet python")
            box.press("Enter")
        reader.settle()
        expect(
            reader.main.get_by_text("What was computed before can still be seen")
        ).to_be_visible()
        expect(box).to_have_value("I feed my pet python")
        again = visit("/meaning", address=served)
        assert again.reading == before
        expect(again.main.get_by_text(AWAY)).to_be_visible()
    finally:
        way.open()
    with reader.rerun():
        reader.main.get_by_role("button", name="Try again").click()
    reader.settle()
    assert "python" in reader.reading
