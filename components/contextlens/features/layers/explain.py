"""The definitions and formulas of Layer by layer."""

from __future__ import annotations

FORMULA = r"""
**Hidden states.** $h_{\ell,t}$ is the vector of token $t$ after layer $\ell$; layer 0 is the
embedding layer's output.

**Vector length** is $\lVert h_{\ell,t} \rVert$, the root of the sum of squares.

**Cosine to layer 0, to the layer before, to the first token:**

$$
\cos(h_{\ell,t}, h_{0,t}) \qquad \cos(h_{\ell,t}, h_{\ell-1,t}) \qquad
\cos(h_{\ell,t}, h_{\ell,0})
$$

The first token is [CLS], or what the family writes in its place. There is no layer before layer 0.

**To the other tokens.** For the first two, the average of $\cos(h_{\ell,t}, h_{k,u})$ over all
pairs of different tokens $t \neq u$ of the text, with $k$ the layer compared with: the yardstick
that a cosine must exceed to stand out.

**Averages** use the text's tokens only, without those that the tokenizer adds; where these are all
that there is, they count. The first token does not count where it is compared with.

**Most and least** are named only where they differ by more than 0.02 (lengths: by 2%). Values
within 0.01 (lengths: 1%) count as ties.

**Nearest tokens.** Of all tokens of all current sentences, added ones left out, those with the
highest cosine to the chosen token at the same layer. Those within 0.0001 of the highest count as
ties.
""".strip()

ALIKE = r"""
**Linear CKA** (Kornblith et al. 2019). Let $X$ and $Y$ hold the vectors of the same $n$ words at
two layers, a row for each word, every column centred on its mean:

$$
\mathrm{CKA}(X, Y) = \frac{\lVert Y^\top X \rVert_F^2}
{\lVert X^\top X \rVert_F \, \lVert Y^\top Y \rVert_F}
$$

It is 1 where one layer is the other rotated or scaled as a whole. A word's vector is the mean over
its sub-tokens, so that two models that cut words differently can be compared; words that either
model drops are left out, and at most 512 words enter.

**Shuffled words.** The same with the rows of $Y$ in random order, averaged over 5 orders. With few
words and many dimensions, chance alone gives a high CKA, and this cannot simply be subtracted.

**Debiased CKA** (Murphy et al. 2024) has no such bias: it puts the unbiased estimator of HSIC (Song
et al. 2007) in the place of each of the three norms, so that over all orders of the words its
numerator averages 0. With $K = X X^\top$ and $L = Y Y^\top$, their diagonals set to 0:

$$
\mathrm{HSIC}_1(K, L) = \frac{1}{n (n - 3)} \left( \mathrm{tr}(K L)
+ \frac{\mathbf{1}^\top K \mathbf{1} \; \mathbf{1}^\top L \mathbf{1}}{(n - 1)(n - 2)}
- \frac{2}{n - 2} \mathbf{1}^\top K L \mathbf{1} \right)
$$

$$
\frac{\mathrm{HSIC}_1(K, L)}{\sqrt{\mathrm{HSIC}_1(K, K) \, \mathrm{HSIC}_1(L, L)}}
$$

It lies between -1 and 1, and needs at least 4 words.
""".strip()

SPREAD = r"""
**Anisotropy** at layer $\ell$ is the average cosine of random pairs of words from different
sentences of the sample that ships with the app; the grey band holds the middle 90 of 100 pairs.

**Share of the variance.** With $\lambda_1 \ge \lambda_2 \ge \dots$ the eigenvalues of the
covariance of the sample's word vectors at that layer, the first $k$ principal components hold

$$\frac{\lambda_1 + \dots + \lambda_k}{\sum_i \lambda_i}$$

A word's vector is the mean over its sub-tokens. The sample's sentences are the same for every model
and do not depend on what you typed.
""".strip()

POOLER = r"""
With $x$ the first token's vector after the last layer, $W$ and $b$ the pooler's weights:

$$\mathrm{pooler\_output} = \tanh(W x + b)$$
""".strip()
