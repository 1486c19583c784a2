"""What its page shows, computed from a view and a corpus."""
