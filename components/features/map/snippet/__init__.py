"""The snippet of its page, by what they are about."""
