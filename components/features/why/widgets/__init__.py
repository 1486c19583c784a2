"""Components of the page Why alike?."""
