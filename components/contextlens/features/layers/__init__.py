"""All that the page `layers` alone needs."""
