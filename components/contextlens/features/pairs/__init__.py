"""All that the page `pairs` alone needs."""
