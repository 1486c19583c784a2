"""Models of a hub that an address names, and that a page gets by a click."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from streamlit.testing.v1 import AppTest

from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT
from tests.support.pages import framed, press

__all__ = ["OTHER", "PRESET", "SECONDS", "TINY", "asked_for", "opened_on", "sidebar_text"]

ROOT = Path(__file__).parents[4]
SECONDS = 300
PRESET = "distilbert/distilbert-base-uncased"  # an id that the picker offers; a tiny BERT behind it
OTHER = "org/tiny-bert"
TINY = "folder:bert"


def sidebar_text(app: AppTest) -> str:
    kinds = (app.sidebar.caption, app.sidebar.markdown)
    return "\n".join(element.value.replace("\\", "") for kind in kinds for element in kind)


def opened_on(model: str) -> AppTest:
    """The page on a model, as it is right after a click on the button that gets it."""
    app = AppTest.from_file(str(ROOT / "main.py"), default_timeout=SECONDS)
    app.query_params["s"] = encode(replace(DEFAULT, model=model))
    app = app.switch_page("pages/meaning.py").run()
    return app.button(key="get_model").click().run()


def asked_for(model: str) -> AppTest:
    """The page on a model that was got by a click, when it is there or has failed."""
    return press(framed(replace(DEFAULT, model=model)), "get_model")
