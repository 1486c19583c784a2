"""One instance of each per process: the settings, and the service that they configure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import streamlit as st

from contextlens.analysis.leaving_out import cut_out
from contextlens.content.bundled_texts import N_EVERYDAY, baseline_sentences
from contextlens.content.examples import ready_texts
from contextlens.core import EncoderService, Settings
from contextlens.core.errors import SettingsError
from contextlens.core.ready_answers import open_ready_service
from contextlens.core.registry import is_open

if TYPE_CHECKING:
    from contextlens.core.cache import CachedService


@st.cache_resource(show_spinner=False)
def service() -> CachedService:
    """Return the only service of this process."""
    return open_ready_service(_read_at_first(), offered_only=not is_for_one())


def _read_at_first() -> Iterator[str]:
    """Yield what pages read with the ready examples: also without each word, and beside them."""
    yield from baseline_sentences()[:N_EVERYDAY]
    for text in ready_texts():
        yield text
        for word in re.finditer(r"\w+|[^\w\s]", text):
            yield cut_out(text, [word.span()]).text


def uncached() -> EncoderService:
    """Return the service without its cache: for work that reads each text once."""
    return service().uncached


@st.cache_resource(show_spinner=False)
def settings() -> Settings:
    """Return the environment's settings, read once.

    Raises:
        SettingsError: they are wrong; the log says how at the start, and visitors are not told.
    """
    try:
        return Settings.from_env()
    except SettingsError as exc:
        raise SettingsError(exc.for_visitors) from None


def is_for_one() -> bool:
    """Return True if only this machine can reach the server, so that there is one visitor."""
    current = settings()
    if current.hosts or current.sign_in != "off" or current.demo:
        return False
    return not is_open(st.get_option("server.address"))


def has_visitor_keys() -> bool:
    """Return True if a browser's key is what tells visitors apart: many, and nobody signs in."""
    return settings().sign_in == "off" and not settings().demo and not is_for_one()
