"""All that the page `home` alone needs."""
