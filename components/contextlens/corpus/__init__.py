"""Corpora: sentences with optional labels, from files that people bring and from the app."""
