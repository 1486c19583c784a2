"""The frame: page config, sidebar, navigation, one error boundary."""

import streamlit as st

from components.ui import errors, navigation, shell, sidebar, state

shell.configure()
page = st.navigation(navigation.streamlit_pages(), position="hidden")
view = state.current()
with errors.boundary():
    card_place = sidebar.draw(view)
    with errors.boundary():
        page.run()
    sidebar.finish(card_place, view)
