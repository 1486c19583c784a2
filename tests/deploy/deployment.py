"""The files for deployment, read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

__all__ = [
    "COMPOSE",
    "CONTAINERFILE",
    "DEPLOY",
    "KUBERNETES",
    "ROOT",
    "WRITTEN",
    "instructions",
    "kind",
]

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8").replace("\\\n", " ")
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
KUBERNETES = [
    own
    for own in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))
    if own
]
WRITTEN = [
    *(path for path in sorted(DEPLOY.rglob("*")) if path.is_file()),
    ROOT / "docs" / "deploy.md",
]


def kind(name: str, called: str = "") -> dict[str, Any]:
    """The object of a kind; where there are several, the one of that name."""
    objects = [own for own in KUBERNETES if own["kind"] == name]
    (found,) = (own for own in objects if called in {"", own["metadata"]["name"]})
    return dict(found)


def instructions(word: str) -> list[str]:
    return re.findall(rf"^{word} +(.*)$", CONTAINERFILE, re.MULTILINE)
