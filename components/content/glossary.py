"""What the field's terms mean, one plain sentence each, for the dotted underlines on the pages.

Kept in one place so that a term means the same on every page. Imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["GLOSSARY"]

GLOSSARY: Mapping[str, str] = MappingProxyType(
    {
        "encoder": (
            "A model that reads a whole text at once and gives a vector for each of its tokens."
        ),
        "token": (
            "A piece of text that the model knows by number: a word, a part of a word, or a sign."
        ),
        "sub-token": (
            "One of several tokens that a word is cut into when it is not in the vocabulary whole."
        ),
        "token ID": "The number of a token in the model's vocabulary.",
        "vocabulary": "The fixed list of all tokens that a model knows.",
        "tokenizer": "The part that cuts a text into tokens and looks up their IDs.",
        "special token": (
            "A token that the tokenizer adds and that stands for no text, such as a mark for the "
            "start, the end or padding."
        ),
        "[CLS]": (
            "The special token that BERT puts first; its vector is often used, not always well, "
            "to stand for the whole text."
        ),
        "[SEP]": "The special token that BERT puts at the end of each text, and so between two.",
        "[PAD]": "The special token that fills a shorter text up to a common length.",
        "[UNK]": (
            "The special token that stands in for a piece of text that the vocabulary cannot spell."
        ),
        "[MASK]": "The special token that stands for a hidden word while a BERT model is trained.",
        "batch": "Several texts that the model reads in one go, as one block of numbers.",
        "padding": (
            "Filling shorter texts with a special token so that all texts of a batch are equally "
            "long."
        ),
        "attention mask": (
            "A row of ones and zeros, one for each token, that tells the model to attend to it "
            "(1) or to ignore it as padding (0)."
        ),
        "attention": (
            "The step in which each token gathers information from the others, weighted by how "
            "much each of them matters to it."
        ),
        "attention rollout": (
            "A way to follow attention through the layers, which mixes each layer's mean attention "
            "half and half with the token itself and multiplies the layers."
        ),
        "entropy": (
            "How widely a head spreads its attention, in bits, from 0 for one token alone to the "
            "most when all tokens get the same."
        ),
        "head": "One of several attention steps that run side by side within a layer.",
        "vector": "A list of numbers, read as an arrow in a space with that many directions.",
        "dimension": "One of the numbers of a vector.",
        "layer": (
            "One round of the model's work, which takes a vector for each token and gives a new "
            "one; layer 0 is the embedding layer."
        ),
        "embedding layer": (
            "The first step, which adds up what is stored for a token, its position and, in some "
            "models, its segment before any context is read."
        ),
        "position embedding": (
            "A vector that the model stores for each place in a text and adds to the token there."
        ),
        "LayerNorm": (
            "A step that brings the numbers of a vector to mean 0 and variance 1, then scales and "
            "shifts each of them by learned amounts."
        ),
        "norm": "The length of a vector: the root of the sum of its squared numbers.",
        "segment": (
            "Which of two texts a token belongs to, told to those models that can read a pair."
        ),
        "hidden state": "The vector that the model holds for one token after one layer.",
        "word vector": (
            "One vector for a word in its sentence, made at one layer from the hidden states of "
            "its sub-tokens, by default as their mean."
        ),
        "static vector": (
            "The vector that the model stores for a word before it sees any sentence, the same in "
            "every context."
        ),
        "sentence vector": (
            "One vector for a whole text, by default the mean of the hidden states of its tokens "
            "without padding."
        ),
        "occurrence": "One word at one place in one sentence.",
        "reference": "A word or phrase of your choice to compare the chosen words with.",
        "pooling": "Making one vector out of several, for example by taking their mean.",
        "pooler": (
            "An extra layer that some models apply to the last vector of the first token; in some "
            "files nothing shows that it was trained."
        ),
        "cosine similarity": (
            "How far two vectors point in the same direction, from -1 (opposite) over 0 (at right "
            "angles) to 1 (the same direction)."
        ),
        "centred cosine": (
            "Cosine similarity after the average vector of a layer's sample words has been taken "
            "away from both vectors, so that what words share on average no longer counts."
        ),
        "random-pair baseline": (
            "The range of cosines that this model gives at this layer to random pairs of English "
            "words from different sentences, from the 5th to the 95th percentile."
        ),
        "anisotropy": (
            "How far the vectors of a layer point in a common direction, measured as the average "
            "cosine of random pairs of words."
        ),
        "linear CKA": (
            "How alike two layers arrange the same words, from 0 to 1, whatever the directions and "
            "lengths of their vectors."
        ),
        "principal component": (
            "A direction along which vectors differ most; the first one holds the largest share of "
            "their variance."
        ),
        "vector length": (
            "The square root of the sum of a vector's squared numbers, also called its norm."
        ),
        "percentile": (
            "The value below which the given share of all values lies, so that the 95th percentile "
            "leaves one value in twenty above it."
        ),
        "parameter": "One number that a model learned while it was trained, or an array of them.",
        "multiply-add": (
            "One multiplication whose result is added to a sum: the unit of a model's work."
        ),
        "singular value": (
            "How strongly a matrix stretches along one of its own directions, the largest first."
        ),
        "feed-forward": (
            "The part of a layer that works on each token's vector alone, without looking at the "
            "others."
        ),
        "context": "The other tokens of the text that a token stands in.",
        "map": (
            "A picture in two or three dimensions of vectors that have hundreds, drawn so that "
            "near points are, as far as possible, those that the model treats as similar."
        ),
        "full space": "The space of all dimensions that the model's vectors really have.",
        "UMAP": (
            "A way to draw a map by linking each point to its nearest ones and letting linked "
            "points attract and others repel each other."
        ),
        "PCA": (
            "A way to draw a map by looking at the vectors along the two or three directions in "
            "which they differ most."
        ),
        "t-SNE": (
            "A way to draw a map on which each point's nearest neighbours stay likely to be near, "
            "with little regard for what is further off."
        ),
        "trustworthiness": (
            "How far the points drawn near each other are truly near, from about 0.5 for a random "
            "map to 1 for a perfect one."
        ),
        "continuity": (
            "How far points that are truly near are drawn near as well, from about 0.5 for a "
            "random map to 1 for a perfect one."
        ),
        "neighbour recall": (
            "Of each point's nearest ones in the full space, the share that is among as many "
            "nearest on the map."
        ),
        "true neighbours": (
            "The points nearest to a point by all dimensions of the model's vectors, not by where "
            "they are drawn."
        ),
        "joint fit": (
            "One map drawn for the points of all layers together, so that places at different "
            "layers can be compared."
        ),
        "aligned fit": (
            "A map for each layer, drawn together so that each point stays near its places at the "
            "layers around it unless its neighbours change."
        ),
        "seed": (
            "The number that starts a row of random choices, so that the same seed always makes "
            "the same ones."
        ),
        "Procrustes disparity": (
            "How much two maps of the same points differ once one is turned, mirrored and scaled "
            "onto the other, from 0 for the same to 1."
        ),
        "cluster label": (
            "The words typical of a group of points, frequent in it and rare in the other groups "
            "(weighted by c-TF-IDF)."
        ),
        "concordance": (
            "All occurrences of a word, one below another in their contexts, with the word aligned."
        ),
        "nearest centroid": (
            "A test: each sense has the mean of its examples' vectors, and a word gets the sense "
            "whose mean has the highest cosine to it."
        ),
        "silhouette": (
            "How much nearer points lie to their own group than to the next, from -1 to 1; 0 where "
            "groups run into each other."
        ),
        "adjusted Rand index": (
            "How far two ways of grouping the same things agree: 1 for the same, about 0 for "
            "chance."
        ),
        "HDBSCAN": (
            "A method that finds dense places among points, however many, and leaves the rest in "
            "no group."
        ),
        "k-means": "A method that parts points into a given number of groups around their means.",
        "cased": "Said of a model that keeps capital letters apart from small ones.",
        "uncased": "Said of a model whose tokenizer turns every letter into a small one first.",
        "passport": (
            "The model, revision, checksum, versions and settings behind a result, so that someone "
            "else can get the same numbers."
        ),
    }
)
