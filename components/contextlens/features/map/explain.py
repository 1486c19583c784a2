"""The formulas behind the Map page."""

from __future__ import annotations

FORMULA = r"""
**Points.** Each token, word or sentence $i$ has a vector $x_i$ at the chosen layer: a token its
hidden state, a word the mean (or first, or last) of those of its sub-tokens, a sentence the pooled
vector that you choose. The map gives it a place $y_i$ in 2 or 3 dimensions. Distances $d$ are
$1 - \cos(x_i, x_j)$, or Euclidean.

**UMAP** (McInnes, Healy and Melville 2018). Each point is linked to its $k$ nearest (here found
exactly; the point itself counts as one of them). With $\rho_i$ the distance to the nearest one
that is not at distance 0, and $\sigma_i$ such that $p_{j|i}$ adds up to $\log_2 k$ over these
neighbours:

$$
p_{j|i} = \exp\left(-\frac{\max(0, \; d(x_i, x_j) - \rho_i)}{\sigma_i}\right) \qquad
p_{ij} = p_{j|i} + p_{i|j} - p_{j|i} \, p_{i|j}
$$

On the map, the link of two points is worth $q_{ij}$, with $a$ and $b$ fitted so that it stays near
1 up to the least distance asked for, and falls off beyond it:

$$q_{ij} = \left(1 + a \, \lVert y_i - y_j \rVert^{2b}\right)^{-1}$$

The places are moved so that the cross-entropy of the two falls:

$$
\sum_{i < j} \left[ p_{ij} \log \frac{p_{ij}}{q_{ij}}
+ (1 - p_{ij}) \log \frac{1 - p_{ij}}{1 - q_{ij}} \right]
$$

The optimiser is our own. umap-learn draws links by their weight and moves points one by one; here
all points move at once in each round: every link pulls by its weight, and a run of up to 32 points,
drawn at random, pushes each point as strongly as five points would for each pull. A step is as long
as a spring of the links' stiffness would let it be, and carries momentum, from 0.98 falling to
none. Pushing with few points instead of all repels less than the formula does, in umap-learn as
well. The places start from PCA, so that the broad outline is not left to chance.

**From layer to layer.** The last layer's map is that of its own links alone, from the PCA start.
Each lower layer's map is that of its own links, too, but starts from the layer above: UMAP at half
the speed and for half of the rounds, t-SNE without the first phase that draws points together.
If a layer so loses more than 0.01 of the trustworthiness that its map has from the PCA start, it
gets the latter. PCA needs no start. Each layer is measured against its own space.
With $Y_{\ell}$ the places of a layer, each with its mean taken off, it is then turned or mirrored
onto the layer above by the $Q$ of

$$\min_{Q^\top Q = I} \lVert Y_{\ell} \, Q - Y_{\ell + 1} \rVert_F$$

Distances between points of different layers mean nothing. How far points move is the median, over
points, of the distance between their places at two layers, each layer scaled to fill a square, in
units of the square's diagonal.

**PCA.** With $V$ the 2 or 3 directions of largest variance of the vectors (under cosine, of the
vectors brought to length one) and $\mu$ their mean: $y_i = V^\top (x_i - \mu)$.

**t-SNE** (van der Maaten and Hinton 2008). Neighbours get probabilities $p_{ij}$ from Gaussians
whose widths give each point the same perplexity, places get $q_{ij}$ in proportion to
$(1 + \lVert y_i - y_j \rVert^2)^{-1}$, and $\sum_{i \neq j} p_{ij} \log (p_{ij} / q_{ij})$ is made
small.

**Trustworthiness** (Venna and Kaski 2001). Of $n$ points, let $U_k(i)$ be those among the $k$
nearest of $i$ on the map but not in the full space, and $r(i, j)$ the rank of $j$ among the
neighbours of $i$ in the full space, 1 for the nearest:

$$T(k) = 1 - \frac{2}{n k (2n - 3k - 1)} \sum_{i=1}^{n} \sum_{j \in U_k(i)} (r(i, j) - k)$$

**Continuity** is the same the other way round: $V_k(i)$ holds those among the $k$ nearest in the
full space but not on the map, and $\hat r(i, j)$ is the rank on the map:

$$C(k) = 1 - \frac{2}{n k (2n - 3k - 1)} \sum_{i=1}^{n} \sum_{j \in V_k(i)} (\hat r(i, j) - k)$$

They need $k < n / 2$. Both are 1 for a perfect map and about one half, not 0, for a random one:

$$T_{\mathrm{chance}} = 1 - \frac{(n - k)(n - 1 - k)}{(n - 1)(2n - 3k - 1)}$$

**Neighbour recall.** With $N_k(i)$ the $k$ nearest in the full space and $M_k(i)$ those on the map:

$$
R(k) = \frac{1}{n k} \sum_{i=1}^{n} |N_k(i) \cap M_k(i)| \qquad
R_{\mathrm{chance}} = \frac{k}{n - 1}
$$

Where distances are equal, it is open which points are the $k$ nearest and what a rank is. All three
measures are then means over all orders of equals, on the map and in the full space: a point that
ties with others for some of the last places among the $k$ counts in part, and a rank is averaged
over the places that its equals share. A map gains nothing by ties, and where all distances are
equal it is worth what chance gives. scikit-learn takes one such order; without ties its
trustworthiness is the same. On the map Euclidean distances count.

**The verdict** counts how far a measure $m$ gets from chance towards 1,
$(m - m_{\mathrm{chance}}) / (1 - m_{\mathrm{chance}})$ (for recall this is $R_{NX}$ of Lee et al.
2013). A map is to be trusted where the lower of trustworthiness and continuity gets 0.8 of the way
and recall half of it; it is doubtful where the former stays below half, or the latter below a
tenth; in between, and with fewer than 50 points, it asks for care. These bounds are a convention.

**Procrustes disparity** of two maps $Y$ and $Z$ of the same points, each with its mean taken off
and scaled to $\lVert Y \rVert_F = \lVert Z \rVert_F = 1$, is what is left when one of them is
turned, mirrored and scaled onto the other, from 0 (the same) to 1:

$$\min_{s, \; Q^\top Q = I} \lVert Y - s \, Z Q \rVert_F^2$$

**Labels.** For each labelled point, whether its nearest labelled one of another text in the full
space has the same label. Tied points count in equal parts. Always guessing the commonest label is
right for the share $b$ of the points that carry it; of groups, the share $c$ that a neighbour drawn
at random would give is the yardstick. A share stands with its 95% interval (Clopper and Pearson
1934), at each layer for itself. Points that are each other's nearest, or at distance 0, count as
one observation together. Labels separate where the whole interval lies above $b$, in whole per
cent, and the share reaches $(1 + b) / 2$; below that, they separate partly. Two labels, or a
selection and the whole map, are told apart where no interval of all that are compared would miss in
95 of 100 cases; in a selection each sentence is one observation.

**Cluster labels.** Groups are found on the map (HDBSCAN); a word's weight in group $c$ is its share
$f_{w,c}$ of the words there times $\log(1 + A / f_w)$, with $A$ the average number of words in a
group and $f_w$ the word's count in all of them (c-TF-IDF, Grootendorst 2022).
""".strip()
