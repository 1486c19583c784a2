"""The view, and the only owner of session state and address."""
