"""Contextlens: everything behind the pages."""
