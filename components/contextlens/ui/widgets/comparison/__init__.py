"""The comparison of a word in several sentences, shared by its page and by Start here."""
