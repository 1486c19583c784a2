"""Corpora that stay: texts with a vector for each of their words, on disk, found by their name."""
