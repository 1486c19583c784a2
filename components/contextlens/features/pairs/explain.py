"""The formulas behind the Pairs page."""

from __future__ import annotations

_COSINE = r"""
**Cosine of a pair.** A word is cut into the sub-tokens $T$. At layer $\ell$, token $t$ has the
hidden state $h_{\ell,t}$; the word has their mean, and a pair the cosine of its two words:

$$w_\ell = \frac{1}{|T|} \sum_{t \in T} h_{\ell,t}$$

$$c_\ell = \frac{w_\ell \cdot w'_\ell}{\lVert w_\ell \rVert \, \lVert w'_\ell \rVert}$$

Where no word is marked, $T$ is all tokens of the text, [CLS] and [SEP] among them. By the model's
own recipe, a text is cut at the recipe's length and pooled as the recipe says at every layer; at
the last layer its further steps follow, so those cosines are sentence-transformers' own.
"""

_THRESHOLD = r"""
**Threshold.** At each layer the number $\theta_\ell$ that gets most training pairs right, where
$c_\ell \ge \theta_\ell$ counts as *same*; it lies midway between two neighbouring cosines, and of
several that do equally well it is the middle one.

**Accuracy** is the share of the test pairs that this threshold gets right; the training pairs do
not count. Without a split, pairs are dealt into up to five folds with as many of either kind
(stratified cross-validation), and each fold is judged by the threshold of the others.

**Interval.** Of $n$ judged pairs a share $p$ is right; with $z = 1.96$ (Wilson, 1927):

$$\frac{p + \frac{z^2}{2n} \pm z \sqrt{\frac{p(1-p)}{n} + \frac{z^2}{4n^2}}}{1 + \frac{z^2}{n}}$$

It holds for pairs that have nothing to do with each other; pairs of the same word or text have, so
it is narrower than it should be where words repeat.

**Always guessing** the commoner kind gets the share that it has among the judged pairs.

**ROC curve.** For every threshold, the share of the same pairs that it calls the same against the
share of the different ones that it does. **AUC** is the area below: the chance that a same pair has
a higher cosine than a different one.
"""

_CORRELATION = r"""
**Spearman** is the correlation of the ranks of scores and cosines; equal ones share the mean of
their ranks. **Pearson** is that of the values themselves:

$$
r = \frac{\sum_i (x_i - \bar x)(y_i - \bar y)}
{\sqrt{\sum_i (x_i - \bar x)^2 \sum_i (y_i - \bar y)^2}}
$$

**Interval.** With $n$ pairs and $z = 1.96$ (Fisher; for Spearman, Bonett and Wright, 2000):

$$\tanh\left(\operatorname{artanh} r \pm z \sqrt{\frac{v}{n - 3}}\right)$$

where $v$ is 1 for Pearson and $1 + r^2/2$ for Spearman. It holds for pairs that have nothing to do
with each other; where texts repeat, it is narrower than it should be.

**Shared words** of two texts with the sets of words $A$ and $B$:
$|A \cap B| / \sqrt{|A| \, |B|}$.

**Percentile** of a pair: the share of the pairs below it, and half of itself. A score that several
pairs share spans several percentiles; two such ranges that meet are not apart.
"""

FORMULA = (_COSINE + _THRESHOLD).strip()
SCORES_FORMULA = (_COSINE + _CORRELATION).strip()
