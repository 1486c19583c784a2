"""The frame: page config, sidebar, navigation, one error boundary."""

import streamlit as st

from contextlens.ui.access import sign_in
from contextlens.ui.frame import present, shell, sidebar
from contextlens.ui.models import runtime
from contextlens.ui.page import errors, navigation, runs
from contextlens.ui.state import session

shell.configure()
page = st.navigation(navigation.streamlit_pages(), position="hidden")
session.keep(session.PAGE, page.url_path or navigation.PAGES[0].name)
with errors.boundary():
    sign_in.gate()
    view = session.current()
    runtime.preload(view.model)
    card_place = None
    if present.is_on():
        present.keys()
    else:
        card_place = sidebar.draw(view, page.url_path or navigation.PAGES[0].name)
    shell.service_notice()
    with runs.counted(page), errors.boundary():
        page.run()
    if card_place is not None:
        sidebar.finish(card_place, view)
    sidebar.announce_model()
