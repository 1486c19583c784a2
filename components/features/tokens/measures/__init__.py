"""The measures of its page, by what they are about."""
