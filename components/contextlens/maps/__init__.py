"""Maps, headless: the vectors are gathered and placed, and the quality of the map is measured."""
