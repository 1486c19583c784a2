"""The frame: page config, sidebar, navigation, one error boundary."""

import streamlit as st

from components.ui import errors, maps, navigation, runtime, shell, sidebar, state

shell.configure()
page = st.navigation(navigation.streamlit_pages(), position="hidden")
with errors.boundary():
    view = state.current()
    runtime.start_ahead(view.model)
    maps.start_ahead(view.model)
    card_place = sidebar.draw(view)
    with errors.boundary():
        page.run()
    sidebar.finish(card_place, view)
