"""What the pictures of all looks share: their height, and the name of the one that is saved."""

from __future__ import annotations

__all__ = ["CHART", "HEIGHT"]

CHART = "why_chart"
HEIGHT = 300
