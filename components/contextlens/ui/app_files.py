"""Where the scripts that Streamlit runs are: inside the package in a wheel, else at the root."""

from __future__ import annotations

from pathlib import Path


def app_folder() -> Path:
    """Return the folder of `app.py`, `main.py` and `pages/`.

    A wheel has them in `contextlens/app/`; in a checkout they are at the root.
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "app"
    return installed if installed.is_dir() else package.parents[1]
