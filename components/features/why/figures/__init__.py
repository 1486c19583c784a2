"""The pictures of Why alike?, by what they show."""
