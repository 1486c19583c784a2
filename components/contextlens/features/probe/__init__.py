"""All that the page `probe` alone needs."""
