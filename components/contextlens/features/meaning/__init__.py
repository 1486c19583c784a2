"""All that the page `meaning` alone needs."""
