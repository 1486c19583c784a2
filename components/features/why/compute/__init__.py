"""From a view to what the page shows, by what is looked at."""
