"""From a view to what the page shows, by what it is about."""
