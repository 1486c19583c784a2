"""A word compared in several sentences: shared by its page and by Start here."""
