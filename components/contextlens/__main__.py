"""`python -m contextlens` does what the command `contextlens` does."""

from contextlens.cli import main

main()
