"""The pages, a folder each: what one page alone needs is in its folder."""
