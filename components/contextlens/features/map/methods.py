"""The methods that place the points of a map, and how the maps of its layers belong together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from contextlens.content.language import Claim, claim
from contextlens.maps.request import Method

FORMULA = r"""
**Points.** Each token, word or sentence $i$ has a vector $x_i$ at the chosen layer: a token its
hidden state, a word the mean (or first, or last) of those of its sub-tokens, a sentence the pooled
vector that you choose. The map gives it a place $y_i$ in 2 or 3 dimensions. Distances $d$ are
$1 - \cos(x_i, x_j)$, or Euclidean.

**UMAP** (McInnes, Healy and Melville 2018). Each point is linked to its $k$ nearest (here found
exactly for up to 50,000 points, and for more by nearest-neighbour descent, Dong, Moses and Li 2011,
whose recall stands with the map's quality; the point itself counts as one of them). With $\rho_i$
the distance to the nearest one that is not at distance 0, and $\sigma_i$ such that $p_{j|i}$ adds
up to $\log_2 k$ over these neighbours:

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
""".strip()


def layers_claims(moved: Sequence[float], layers: Sequence[int], method: Method) -> list[Claim]:
    """The way in which a map's layers belong together; nothing for one layer's own map.

    Args:
        moved: how far points move from each layer to the next, as shares of the map's diagonal.
        layers: the layers of the map.
        method: its method.
    """
    if not moved:
        return []
    farthest = int(np.argmax(moved))
    case = "pca" if method == "pca" else "linked"
    steps = {"share": float(np.median(moved)), "most": moved[farthest]}
    return [
        claim(f"map.frame.{case}"),
        claim("map.frame.moved", first=layers[farthest], last=layers[farthest + 1], **steps),
    ]
