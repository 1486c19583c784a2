"""Accuracy over the layers, cosines of pairs of either kind, and the ROC curve."""
