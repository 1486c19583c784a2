"""What a visitor chooses for all pages at once: present mode."""

from contextlens.ui.state.controls import switch

PAGE = "frame"

PRESENT = switch(PAGE, "present")
"""Present mode: large type, and the picture and its claim alone."""
