"""Each look with transformers alone, its hooks written out, by look."""
