"""Checks that this installation gives the numbers that it should; `python -m contextlens.proof`."""
