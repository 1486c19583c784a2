"""The parts of the page Why alike?, by what they hold."""
