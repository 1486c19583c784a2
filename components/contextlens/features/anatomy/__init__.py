"""All that the page `anatomy` alone needs."""
