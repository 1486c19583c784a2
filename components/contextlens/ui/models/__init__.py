"""The chosen model, its loading, and waiting for it."""
