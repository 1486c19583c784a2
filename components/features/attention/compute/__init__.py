"""From a view to what the Attention page shows."""
