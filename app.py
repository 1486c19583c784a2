"""The server: what `streamlit run app.py` starts. The script around every page is `main.py`."""

import streamlit as st

from components.ui.frame import document, startup

app = st.App("main.py", routes=document.routes(), lifespan=startup.lifespan)
