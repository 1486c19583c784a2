"""Stored corpora as several pages meet them: which ones a visit knows, links to them, exports."""
