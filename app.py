"""The server: what `contextlens` starts. The script around every page is `main.py`."""

import streamlit as st
from websockets import http11

from contextlens.ui.access import oidc
from contextlens.ui.corpora import exports
from contextlens.ui.files import uploads
from contextlens.ui.page import errors
from contextlens.ui.server import document, health, hosts, startup

# A browser sends all of its cookies in one line, and `websockets` does not answer a WebSocket with
# a line over 8,192 bytes. Its environment variable would come too late, as it is imported by now.
http11.MAX_LINE_LENGTH = 65_536

base = st.get_option("server.baseUrlPath")
app = st.App(
    "main.py",
    routes=[
        *document.routes(base),
        *exports.routes(base),
        *health.routes(base),
        *oidc.routes(base),
    ],
    middleware=[
        *hosts.middleware(),
        *health.middleware(),
        *uploads.middleware(),
    ],
    lifespan=startup.lifespan,
    secrets=oidc.secrets(),
    on_script_error=errors.uncaught,
)
