"""Everything that uses streamlit, apart from the short page scripts."""
