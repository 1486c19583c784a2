"""Background work, one instance of each per process: jobs, maps, and stored corpora."""

from __future__ import annotations

import streamlit as st

from contextlens.core.byte_cache import shared_cache
from contextlens.corpus.store.store import Store, open_store
from contextlens.jobs import Jobs
from contextlens.maps.engine import Maps
from contextlens.maps.prepare import compiled_folder
from contextlens.ui.state.services import service, settings


@st.cache_resource(show_spinner=False, on_release=Jobs.stop)
def jobs() -> Jobs:
    """Return the jobs of this process."""
    return Jobs(settings().cache_bytes // 2, hold=shared_cache().hold)


@st.cache_resource(show_spinner=False, on_release=Maps.close)
def maps() -> Maps:
    """Return the object that draws the maps of this process."""
    return Maps(service(), jobs(), compiled=compiled_folder(settings()))


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """Return the stored corpora; nothing is read before somebody asks for one."""
    return open_store(settings())
