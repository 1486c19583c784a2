"""All that the page `tokens` alone needs."""
