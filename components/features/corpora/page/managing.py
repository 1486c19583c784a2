"""What can be done with a stored corpus: export it, delete it after a second click."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from components.content.language import say
from components.content.wording import escape, shortened
from components.core.errors import AccessError, CorpusError
from components.features.corpora.controls import CORPUS, WORD
from components.ui.corpora import changing, exports
from components.ui.corpora.known import Kept, may_delete, without_own
from components.ui.state import session
from components.ui.state.view import ViewState

__all__ = ["ask_to_delete", "delete", "menu"]

_DELETING = "corpora_deleting"
"""Under which a visit keeps the name of the corpus that it is asked about once more."""
_LONGEST = 60


def menu(view: ViewState, kept: Kept) -> None:
    """Export and deletion, in a menu."""
    with st.popover(say("corpora.managing.menu"), icon=":material/folder_managed:"):
        about = kept.about
        if about is not None and about.n_occurrences and changing.may_export(about):
            st.caption(say("corpora.managing.rows", n=about.n_occurrences))
            st.link_button(
                say("corpora.managing.export"),
                exports.address(kept.name),
                icon=":material/download:",
                width="stretch",
            )
        if may_delete(view, kept):
            ask_to_delete(kept, say("corpora.managing.delete"), key="corpora_delete")
        elif kept.file is not None:
            st.caption(say("corpora.managing.offered"))
        else:
            may_export = about is not None and changing.may_export(about)
            st.caption(say(f"corpora.managing.{'shown_export' if may_export else 'shown'}"))


def ask_to_delete(
    kept: Kept, label: str, *, key: str, width: Literal["content", "stretch"] = "stretch"
) -> None:
    """A button, and once it was pressed what is lost and the way back."""
    if session.kept(_DELETING) != (kept.name, key):
        st.button(label, icon=":material/delete:", key=key, width=width,
                  on_click=session.keep, args=(_DELETING, (kept.name, key)))  # fmt: skip
        return
    with st.container(gap="small"):
        _confirm(kept, key)


def _confirm(kept: Kept, key: str) -> None:
    """What is lost, with the button that loses it."""
    title, about = escape(shortened(kept.title, _LONGEST)), kept.about
    n = 0 if about is None else about.n_occurrences
    st.markdown(say(f"corpora.managing.{'lost' if n else 'lost_unknown'}", title=title, n=n))
    with st.container(horizontal=True, gap="small"):
        st.button(
            say("corpora.managing.confirm"),
            type="primary",
            key=f"{key}_yes",
            on_click=delete,
            args=(kept.name,),
        )
        leave = say("corpora.managing.leave")
        st.button(leave, key=f"{key}_no", on_click=session.keep, args=(_DELETING, None))


def delete(name: str) -> None:
    """Delete a corpus and forget its name; what indexes it stops."""
    session.keep(_DELETING, None)
    try:
        changing.delete(name)
    except (AccessError, CorpusError) as exc:
        session.remember(str(exc))
        return
    view = without_own(session.current(), name)
    if CORPUS.asked(view) == name:
        view = WORD.put(CORPUS.put(view, CORPUS.default), "")
    session.write(view)
