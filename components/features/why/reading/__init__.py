"""The reading of its page, by what they are about."""
