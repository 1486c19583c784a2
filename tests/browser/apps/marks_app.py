"""A chart whose marks are drawn by the browser, and the point that was clicked last."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from contextlens.figures.theme import INK
from contextlens.ui.widgets.component import component, css_class

XS, YS = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0])  # sent as bytes, as those of a map

st.set_page_config(layout="wide")
st.title("Points")
layout = {"height": 420, "hovermode": "closest", "title": {"font": {"color": INK}}}
figure = go.Figure(layout=layout)
chosen = [0, 1] if st.button("Select") else None
points = {"x": XS, "y": YS, "selectedpoints": chosen, "marker": {"size": 20}}
figure.add_scatter(**points, mode="markers", hoverinfo="none")
st.plotly_chart(figure, key="crowd", on_select="ignore")


def keep(clicked: dict) -> None:
    """Keeps the point that was clicked, as a page would."""
    st.session_state.clicked = clicked["place"][1] if clicked["of"] == "points" else None


point = st.session_state.get("clicked", 1)
ring = {"symbol": "circle-open", "size": 30, "color": INK}
marks = {"type": "scatter", "mode": "markers", "marker": ring, "hoverinfo": "skip"}
traces = [] if point is None else [{**marks, "x": [XS[point]], "y": [YS[point]]}]
data = {
    "chart": css_class("crowd"),
    "of": "points",
    "figure": str(chosen),
    "traces": traces,
    "size": 20,
    "ink": INK,
}
component("contextlens.features.map", "marks", data, key="marks", on_pick=keep)
st.write(f"clicked {point}")
