"""The frame around every page: header, menu, sidebar, errors."""
