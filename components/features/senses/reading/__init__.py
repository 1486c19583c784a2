"""What its page says, by what it is about."""
