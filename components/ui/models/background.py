"""What there is once in a process for work in the background: all jobs of all visitors."""

from __future__ import annotations

import streamlit as st

from components.jobs import Jobs
from components.ui.models.services import settings

__all__ = ["jobs"]


@st.cache_resource(show_spinner=False, on_release=Jobs.stop)
def jobs() -> Jobs:
    """The jobs of this process."""
    return Jobs(settings().cache_bytes // 2)
