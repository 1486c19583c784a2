"""Which model is wanted, its loading, and waiting for it."""
