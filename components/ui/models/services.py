"""What there is once in a process: the settings, and the service that they ask for."""

from __future__ import annotations

import streamlit as st

from components.core import EncoderService, Settings, open_service

__all__ = ["service", "settings"]


@st.cache_resource(show_spinner=False)
def service() -> EncoderService:
    """The one service of this process."""
    return open_service(settings())


@st.cache_resource(show_spinner=False)
def settings() -> Settings:
    """The environment's settings, read once."""
    return Settings.from_env()
