"""From a view to what the Anatomy page shows."""
