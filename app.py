"""The server: what `streamlit run app.py` starts. The script around every page is `main.py`."""

import streamlit as st

from components.ui.access import provider, returning
from components.ui.corpora import exports
from components.ui.frame import document, errors, health, hosts, startup, upload_wall

app = st.App(
    "main.py",
    routes=[*document.routes(), *exports.routes(), *health.routes()],
    middleware=[
        *hosts.middleware(),
        *health.middleware(),
        *returning.middleware(),
        *upload_wall.middleware(),
    ],
    lifespan=startup.lifespan,
    secrets=provider.secrets(),
    on_script_error=errors.uncaught,
)
