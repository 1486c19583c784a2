"""The meaning of a model's numbers, numpy in, numpy out. No torch, no streamlit, no plotly."""
