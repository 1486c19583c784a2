"""The frame: page config, sidebar, navigation, one error boundary."""

import streamlit as st

from components.ui.frame import errors, navigation, shell, sidebar
from components.ui.models import runtime
from components.ui.state import session

shell.configure()
page = st.navigation(navigation.streamlit_pages(), position="hidden")
with errors.boundary():
    view = session.current()
    runtime.start_ahead(view.model)
    card_place = sidebar.draw(view)
    with errors.boundary():
        page.run()
    sidebar.finish(card_place, view)
