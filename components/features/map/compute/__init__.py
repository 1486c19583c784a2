"""From a view to the map that the page shows, and what is known of it. No streamlit here."""
