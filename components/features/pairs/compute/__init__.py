"""Pairs from a file or ready-made, their cosines, and what the page shows of them."""
