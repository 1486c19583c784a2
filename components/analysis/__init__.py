"""Numpy in, numpy out: what the numbers of a model say. No torch, no streamlit, no plotly."""
