"""All that the page `proof` alone needs."""
