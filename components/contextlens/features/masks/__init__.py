"""All that the page `masks` alone needs."""
