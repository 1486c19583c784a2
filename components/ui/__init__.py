"""All that touches streamlit, apart from the short page scripts."""
