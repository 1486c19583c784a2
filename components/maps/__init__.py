"""Maps, headless: vectors gathered, placed, and how far the result can be trusted."""
