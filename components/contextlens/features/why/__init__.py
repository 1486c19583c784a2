"""All that the page `why` alone needs."""
