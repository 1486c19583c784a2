"""What the page shows: words counted, files taken apart, what indexing will take."""
