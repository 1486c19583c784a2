"""Arrays in, plotly Figure out."""
