"""The figures of its page, by what they are about."""
