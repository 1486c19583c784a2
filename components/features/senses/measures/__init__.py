"""The numbers of its page, by what they are about: numpy in, numpy out."""
