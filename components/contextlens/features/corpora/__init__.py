"""All that the page `corpora` alone needs."""
