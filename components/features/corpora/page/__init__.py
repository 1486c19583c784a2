"""The parts of the Corpora page, in the order of the page."""
