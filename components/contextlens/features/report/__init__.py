"""All that the page `report` alone needs."""
