"""All that the page `sentences` alone needs."""
