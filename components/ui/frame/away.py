"""The line that says so while the service behind the app is away: pages show what they have."""

from __future__ import annotations

import streamlit as st

from components.core.remote.service import RemoteService
from components.ui.models.services import uncached

__all__ = ["draw"]


def draw() -> None:
    """The line, as long as the service that was asked last did not answer."""
    service = uncached()
    if isinstance(service, RemoteService) and service.away is not None:
        st.warning(
            "The service that runs the models does not answer. Pages show what was computed "
            "before; anything new has to wait until it is back.",
            icon=":material/cloud_off:",
        )
