"""Visitors' files for several pages: the stored files, and the field that uploads them."""
