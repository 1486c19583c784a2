"""The dashboard, the alerts and their page name only metrics and settings that exist."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from contextlens.core import meters
from contextlens.ui.server import metrics
from contextlens.ui.server.logs import FIELDS

ROOT = Path(__file__).parents[1]
DASHBOARD = ROOT / "deploy" / "grafana" / "contextlens.json"
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
PAGE = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")

OURS = re.compile(r"\b(?:contextlens|process|python)_\w+")
LABELS = {"instance", "job", "kind", "le", "method", "model", "outcome", "page", "reason", "state"}
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("_total",)}


@pytest.fixture(scope="module")
def families() -> dict[str, Any]:
    """All metrics of the app, by the name in the table: of a counter with its ending."""
    metrics.begin()
    found = {}
    for each in meters.REGISTRY.collect():
        found[each.name + ("_total" if each.type == "counter" else "")] = each
    return found


@pytest.fixture(scope="module")
def series(families: dict[str, Any]) -> set[str]:
    """All names that a query may ask for."""
    return {
        each.name + suffix
        for each in families.values()
        for suffix in SUFFIXES.get(each.type, ("",))
    } | {f"{each.name}_info" for each in families.values() if each.type == "info"}


def queries() -> Iterator[tuple[str, str]]:
    """Each query of the dashboard and of the alerts, with where it stands."""
    board = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    for panel in board["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["definition"]
    for rule in rules():
        yield rule["alert"], rule["expr"]


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_every_query_names_metrics_that_exist(series: set[str]) -> None:
    wrong = [
        f"{where}: {name}"
        for where, query in queries()
        for name in OURS.findall(query)
        if name not in series
    ]
    assert not wrong, wrong
    assert all(OURS.search(query) or query.startswith("up{") for _, query in queries())


def test_every_query_names_labels_that_exist() -> None:
    for where, query in queries():
        named = re.findall(r"(\w+)\s*=~?\s*\"", query) + re.findall(r"(\w+)\s*!=\s*\"", query)
        grouped = [
            each for found in re.findall(r"by \(([^)]*)\)", query) for each in found.split(",")
        ]
        assert {each.strip() for each in (*named, *grouped)} <= LABELS, where


def test_the_dashboard_shows_every_metric_of_ours(families: dict[str, Any]) -> None:
    asked = " ".join(query for _, query in queries())
    ours = {name for name in families if name.startswith("contextlens")}
    assert {name for name in ours if name not in asked} == {"contextlens_cache_entries"}


def test_the_panels_stand_side_by_side_and_have_numbers_of_their_own() -> None:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    places = [tuple(panel["gridPos"].values()) for panel in panels]
    assert len(set(places)) == len({panel["id"] for panel in panels}) == len(panels)
    assert all(x + w <= 24 for _, w, x, _ in places)


def test_alerts_are_whole_and_on_the_page() -> None:
    for rule in rules():
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"]["summary"].endswith(".")
        assert rule["expr"].count("(") == rule["expr"].count(")")
    assert [rule["alert"] for rule in rules()] == re.findall(
        r"^\| `(Contextlens\w+)` \|", PAGE, re.M
    )


def test_the_page_lists_every_metric_of_ours(families: dict[str, Any]) -> None:
    expected = [
        f"| `{name}` | {each.type} | {each.documentation} |"
        for name, each in families.items()
        if name.startswith("contextlens")
    ]
    assert re.findall(r"^\| `contextlens_.*\|$", PAGE, re.M) == expected
    assert set(re.findall(r"`((?:process|python)_\w+)`", PAGE)) <= set(families)


def test_the_page_lists_every_field_of_the_log() -> None:
    table = PAGE.split("| field | meaning |")[1].split("```")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.M)
    assert [name for row in rows for name in re.findall(r"\w+", row)] == list(FIELDS)
