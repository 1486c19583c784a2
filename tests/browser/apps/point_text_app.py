"""A chart that has no texts, and the component that asks for that of one point."""

import plotly.graph_objects as go
import streamlit as st

from contextlens.ui.widgets.component import component, css_class

TEXTS = ("A <b>crowd</b> of points", "They are many", "Each has a text")
LATE = [0, 1]
"""The place whose text is there when it is asked for again."""

st.set_page_config(layout="wide")
st.title("Points")
figure = go.Figure(layout={"height": 420, "hovermode": "closest"})
figure.add_scatter(x=[0, 1, 2], y=[0, 1, 0], mode="markers", hoverinfo="none", marker={"size": 20})
st.plotly_chart(figure, key="crowd")


def keep(asked: dict) -> None:
    """Keeps what was asked for, as a page would."""
    assert asked["of"] == "points"
    st.session_state.place = asked["place"]
    st.session_state.asked = [*st.session_state.get("asked", []), asked["place"]]


@st.fragment
def answer() -> None:
    """Answers as a page would."""
    data = {"chart": css_class("crowd"), "of": "points", "place": []}
    place = st.session_state.get("place")
    if place:
        data["place"] = place
    if place and (place != LATE or st.session_state.asked.count(LATE) > 1):
        data |= {"parts": ["", "", TEXTS[place[1]]], "labels": ["topic: none"]}
    component("contextlens.features.map", "point_text", data, key="text", on_pick=keep)


answer()
