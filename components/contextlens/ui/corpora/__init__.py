"""Stored corpora for several pages: those that a visit knows, links to them, exports."""
