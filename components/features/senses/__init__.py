"""How many meanings a word has in a corpus, and where they part."""
