"""What the pages say besides their numbers: definitions, formulas and limits, a module each.

Prose is kept out of the page scripts so that it can be read and corrected in one place. The strings
are Markdown with LaTeX between dollar signs and contain no results: readings are computed. Imports
nothing of ours.
"""
