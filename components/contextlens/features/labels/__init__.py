"""The page Labels: what a model's own trained head calls each sentence, or each of its words."""
