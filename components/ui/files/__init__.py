"""Visitors' files, which several pages read: what is kept of them, and where they are chosen."""
