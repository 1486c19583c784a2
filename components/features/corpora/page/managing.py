"""What can be done with a stored corpus: export it, delete it after a second click."""

from __future__ import annotations

from typing import Literal

import streamlit as st

from components.content.wording import escape, shortened
from components.core.errors import AccessError, CorpusError
from components.features.corpora.controls import CORPUS, WORD
from components.features.corpora.reading import number
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
    with st.popover("Export or delete", icon=":material/folder_managed:"):
        about = kept.about
        if about is not None and about.n_occurrences and changing.may_export(about):
            st.caption(
                f"Every word with its place, labels and vectors: "
                f"{number(about.n_occurrences, 'row')}, written when you click."
            )
            st.link_button(
                "Export as Parquet",
                exports.address(kept.name),
                icon=":material/download:",
                width="stretch",
            )
        if may_delete(view, kept):
            ask_to_delete(kept, "Delete", key="corpora_delete")
        elif kept.file is not None:
            st.caption("It is from whoever runs this server, and nobody deletes it here.")
        else:
            st.caption(_shown_to_you(about is not None and changing.may_export(about)))


def _shown_to_you(may_export: bool) -> str:
    can, cannot = ("search and export", "") if may_export else ("search", "export or ")
    return f"Somebody shows it to you: you can {can} it, not {cannot}delete it."


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
    lost = "what there is of it" if about is None else number(about.n_occurrences, "word")
    st.markdown(
        f"**{title}** and {lost} with their vectors are deleted for everybody who has its address. "
        "To have it again, its file is indexed anew."
    )
    with st.container(horizontal=True, gap="small"):
        st.button("Delete for good", type="primary", key=f"{key}_yes",
                  on_click=delete, args=(kept.name,))  # fmt: skip
        st.button("Leave it", key=f"{key}_no", on_click=session.keep, args=(_DELETING, None))


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
