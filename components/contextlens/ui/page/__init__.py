"""What every page needs: its row in the menu, errors as sentences, and a count of its runs."""
