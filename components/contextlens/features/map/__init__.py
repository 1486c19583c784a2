"""All that the page `map` alone needs."""
