"""Several processes of the app behind one address: what `make serve-app` starts.

Whoever supervises them imports neither Streamlit nor torch.
"""
