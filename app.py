"""The server: what `streamlit run app.py` starts. The script around every page is `main.py`."""

import streamlit as st

from components.ui.corpora import exports
from components.ui.frame import document, hosts, startup, upload_wall

app = st.App(
    "main.py",
    routes=[*document.routes(), *exports.routes()],
    middleware=[*hosts.middleware(), *upload_wall.middleware()],
    lifespan=startup.lifespan,
)
