"""All that the page `blank` alone needs."""
