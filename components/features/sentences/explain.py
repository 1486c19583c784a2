"""The formulas behind the page Sentence vectors."""

from __future__ import annotations

__all__ = ["FORMULA"]

FORMULA = r"""
**One vector of many.** After the last layer $L$, token $t$ of a text has the state $h_{L,t}$; token
0 is [CLS], and $T$ are all real tokens:

$$v_{\text{[CLS]}} = h_{L,0}$$

$$v_{\text{mean}} = \frac{1}{|T|} \sum_{t \in T} h_{L,t}$$

Without special tokens, $T$ leaves out [CLS] and [SEP]. **Max** takes the largest value of each
dimension over $T$. The mean of the last four layers averages $h_{\ell,t}$ over $T$ and over
$\ell = L-3, \ldots, L$. The **pooler** is $\tanh(W h_{L,0} + b)$ with weights of its own. The
**recipe** is what the model's authors published, as sentence-transformers runs it.

**Similarity** of two texts is the cosine of their vectors. Cosines of different ways cannot be
compared as they are: the states of many models point in similar directions. So each cosine also has
the share of random pairs of everyday sentences that are below it, by the same way.

**Accuracy.** Each text in turn is held out and gets the label of the nearest other one (the nearest
neighbour by cosine, leave-one-out). The interval is Wilson's at 95%. One way is worse than another
if an exact sign test on the texts that only one of them gets right says so.
""".strip()
