"""Stored corpora: texts with a vector for each word, on disk, found by name."""
