"""The notice while the service behind the app does not answer; pages keep what they have."""

from __future__ import annotations

import streamlit as st

from components.core.remote.service import RemoteService
from components.ui.models.services import uncached

__all__ = ["draw"]


def draw() -> None:
    """Draw the notice while the last request to the service had no answer."""
    service = uncached()
    if isinstance(service, RemoteService) and service.away is not None:
        st.warning(
            "The service that runs the models does not answer. Pages show what was computed "
            "before; anything new has to wait until it is back.",
            icon=":material/cloud_off:",
        )
