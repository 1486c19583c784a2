"""The number of meanings of a word in a corpus, and the layers where they part."""
