"""The numbers of its page, numpy in and numpy out, by what they are about."""
