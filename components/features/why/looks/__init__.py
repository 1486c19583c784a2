"""The looks of Why alike?, one file each, and what stands under Look closer."""
