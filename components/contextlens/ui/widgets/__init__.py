"""Widgets that several pages use, with their HTML, CSS and JavaScript."""
