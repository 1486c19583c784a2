"""Senses: definitions and formulas."""

from __future__ import annotations

FORMULA = r"""
**Word vector.** The mean of the word's sub-tokens at a layer, scaled to length 1:
$u = v / \lVert v \rVert$.

**Nearest centroid.** The centroid of a sense $s$ is the mean of its training vectors, scaled to
length 1; the sense with the highest cosine wins:

$$
c_s = \frac{\sum_{i \in s} u_i}{\lVert \sum_{i \in s} u_i \rVert} \qquad
\hat{s}(u) = \arg\max_s \; u \cdot c_s
$$

**What is tested.** Where a column tells train from test, centroids come from train and the share is
of test; other values, such as dev, are left out. Else it is stratified $k$-fold cross-validation
with $k$ the number of examples of the rarest sense, at most 5, in the order of the text and not
shuffled; a sense with one example is left out. A sense that is tested and was never learned counts
as wrong.

**Always guessing** the commonest sense among the tested is right for its share of them.

**Interval.** Wilson's score interval at 95%, with $\hat{p}$ the share of $n$ and $z = 1.96$:

$$
\frac{\hat{p} + \frac{z^2}{2n} \pm z \sqrt{\frac{\hat{p}(1 - \hat{p})}{n} + \frac{z^2}{4n^2}}}
{1 + \frac{z^2}{n}}
$$

The best layer was looked for among all of them: that senses separate at all is said where the
interval that allows for so many (risk 5% divided by the number of layers) lies above that share.
Layers whose share lies within the best layer's interval are named with it.

**Silhouette** (Rousseeuw 1987) is the mean over occurrences of $(b - a) / \max(a, b)$, with $a$ the
mean cosine distance to the own sense and $b$ to the nearest other; of more than 1,000 occurrences,
that of a random 1,000 with a fixed seed.
""".strip()

GROUPING = r"""
**Automatic.** HDBSCAN (Campello, Moulavi and Sander 2013) looks for dense places on the first 10
principal components of the scaled vectors; a group has at least 5 members, and half the square root
of the number of occurrences where that is more. On fewer components it would find groups in clouds
that have none. Where nothing is dense, $k$-means (seeded) splits the scaled vectors into the number
of groups, from 2 to 6, with the highest silhouette of $k$-means on these components.

**Adjusted Rand index** (Hubert and Arabie 1985) of groups and labelled senses: 1 where they are the
same, 0 on average for groups drawn at random. It is over the labelled occurrences; those in no
group count as one group more. Beside it stands what shuffled labels reach in 5 of 100 cases.

**Typical words** are those of the group's contexts with the highest class-based TF-IDF
(Grootendorst 2022); words in several contexts come first. **Central** are the three occurrences
with the highest cosine to the mean of the group's scaled vectors.

**The map** shows the first two principal components of the scaled vectors at each layer, turned or
mirrored onto the layer before (orthogonal Procrustes); distances on it are those of the two
components and no more.
""".strip()

OWN_SENTENCE = r"""
**Closest** is the sense with the highest cosine to its centroid, here from all labelled uses.
The **margin** is that cosine less the second's. It lies **between two** where the margin is below
the lowest tenth of the margins that the labelled occurrences get when they are tested themselves;
it is **unlike any** where its cosine is below their lowest twentieth.
""".strip()

TABLE = r"""
The word table has one row for each token, the same in every sentence. Layer 0 adds the position's
and the segment's rows to it and normalizes the sum; no other word takes part. So a word in
the table is one point, as in word2vec, about as near to each of its senses.
""".strip()
