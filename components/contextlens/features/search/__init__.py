"""All that the page `search` alone needs."""
