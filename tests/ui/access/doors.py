"""What a page offers to press and to fill in, and clicks that no browser would let one do."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

__all__ = ["HUB_MODEL", "forced", "has_field", "keys"]

HUB_MODEL = "google-bert/bert-base-uncased"


def keys(app: AppTest) -> set[str]:
    return {str(button.key) for button in app.button}


def forced(app: AppTest, key: str) -> AppTest:
    """A click on a button that is disabled, which binds browsers alone."""
    button = app.button(key=key)
    button.proto.disabled = False
    return button.click().run()


def has_field(app: AppTest) -> bool:
    """Whether a file can be given for a corpus."""
    return any("corpora_upload" in str(own.key) for own in app.file_uploader)
