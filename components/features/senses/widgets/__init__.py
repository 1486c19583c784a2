"""The widgets of its page, by what they are about."""
