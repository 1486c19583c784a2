"""What stands around every page: header, menu, sidebar, errors, start."""
