"""Meaning in context: formulas."""

from __future__ import annotations

FORMULA = r"""
**Word vector.** A word is cut into the sub-tokens $T$. At layer $\ell$, token $t$ has the hidden
state $h_{\ell,t}$, and the word has their mean:

$$w_\ell = \frac{1}{|T|} \sum_{t \in T} h_{\ell,t}$$

With pooling *first* or *last*, $w_\ell$ is the hidden state of the first or last sub-token alone.

**Cosine similarity** of two word vectors $u$ and $v$ of the same layer, a number from $-1$ to $1$:

$$\cos(u, v) = \frac{u \cdot v}{\lVert u \rVert \, \lVert v \rVert}$$

**Centred cosine.** With $\mu_\ell$ the mean at layer $\ell$ of the sample words' vectors. Sample
words are up to four words from each of the English sample sentences, drawn with a fixed seed
among those of at least four letters (shorter ones are mostly function words):

$$\cos_{\mathrm{c}}(u, v) = \cos(u - \mu_\ell, \; v - \mu_\ell)$$

**Random-pair baseline.** Random pairs of the sample words such that the two words of a pair come
from different sentences. The band at layer $\ell$ runs from the 5th to the 95th percentile of
their cosines: $[\,q_{0.05}, \; q_{0.95}\,]$. A cosine inside the band is one that words with
nothing to do with each other often get as well. Words that are cut into pieces are more alike
than others, so each pair is held against pairs of its own kind: both words whole, both in pieces,
or one of each; where too few words of a kind are in the sample, and where several kinds stand in
one picture, against all. The sample is English: words in another script are held against nothing,
and for other languages in Latin script the band is a rough guide.

**Differences** of cosines below 0.03 are not told: taking a sentence's final mark away, or
putting "Well," before it, moves the cosine of two uses of a word by up to 0.025 (95 of 100 pairs
of the ready corpus, last layer of the bundled model).

**Static vector.** The mean of the rows $e_t$ that the word-embedding table holds for the
sub-tokens $t \in T$, before position and context are added.
""".strip()
