"""The formulas behind the probe."""

from __future__ import annotations

FORMULA = r"""
**Vectors.** A text is the mean of all its tokens' hidden states at a layer, its first token's
([CLS]), or what the model's own recipe makes of the last layer.

**Probe.** Logistic regression on standardised vectors $x$: the label $k$ gets the probability

$$p_k = \frac{e^{w_k \cdot x + b_k}}{\sum_j e^{w_j \cdot x + b_j}}$$

Weights are learned with scikit-learn's usual strength of regularisation ($C = 1$), from other texts
than those that are tested: a given split, or up to five folds with as many of each label.

**Grades** (numbers with many values) are predicted by ridge regression on standardised vectors;
scikit-learn's `RidgeCV` chooses the strength of regularisation. Spearman's correlation compares
the order of the predictions with that of the grades.

**Counting words.** The same classifier on the TF-IDF of words and pairs of words.
**Word vectors:** the mean of the rows that the tokens have in the word table.
**Guessing:** always the commonest label of the tested texts.

**Interval.** Wilson's, for $n$ tested texts. For the best of $m$ choices, its risk is $5\% / m$.

**Macro-F1** is the mean over the labels of $2PR / (P + R)$, with precision $P$ and recall $R$.
""".strip()
