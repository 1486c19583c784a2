"""The looks of its page, by what they are about."""
