"""Ready edits of a sentence, pure text, by their kind."""
