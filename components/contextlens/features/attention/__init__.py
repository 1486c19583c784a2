"""All that the page `attention` alone needs."""
