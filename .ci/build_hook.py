"""Puts the scripts that Streamlit runs into the wheel, as `contextlens/app/`.

Only into standard wheels: an editable install finds them at the root.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

APP = ("app.py", "main.py", "pages", ".streamlit")


class AppFiles(BuildHookInterface):
    """The hook that hatchling calls for a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files to a standard wheel."""
        if version == "standard":
            build_data["force_include"] |= {name: f"contextlens/app/{name}" for name in APP}
