"""Closer look "From ID to row": the row of a token's ID in the word-embedding table."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
from plotly import graph_objects as go

from contextlens.analysis.snippet_start import load_lines
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted, shortened
from contextlens.core import EncoderService, ModelCard
from contextlens.core.schema import FloatArray, Vocabulary
from contextlens.features.tokens.tokenized_sentence import TokenizedSentence
from contextlens.figures.frames import vector_strips
from contextlens.ui.panel import Panel

FORMULA = r"""
An ID $i$ stands for the one-hot vector $o_i \in \{0, 1\}^{V}$, which is 1 at place $i$ and 0
elsewhere. Multiplied with the word-embedding matrix $E \in \mathbb{R}^{V \times d}$ it gives

$$o_i E = E_{i}$$

which is row $i$ itself. So nothing is multiplied: the row is looked up.
""".strip()

_NEIGHBOURS = 3  # rows above and below the picked token's row
_N_VALUES = 8  # values of a row that are shown as numbers
_MAX_TITLE_LENGTH = 24  # characters of a token in a title


@dataclass(frozen=True, eq=False)
class IdRow(Panel):
    """Rows of the word-embedding table: a token's own, and those just above and below it.

    Attributes:
        ids: the numbers of the rows, which are token IDs.
        names: the ID and piece of each row, as one text.
        values: (n_rows, n_dims) float32.
        picked: the index of the token's own row in these lists.
        piece: the token.
        n_rows: the number of rows of the table.
        code: a script with the same numbers.
    """

    formula = FORMULA

    ids: list[int]
    names: list[str]
    values: FloatArray
    picked: int
    piece: str
    n_rows: int
    code: str

    @property
    def token_id(self) -> int:
        """The token's ID."""
        return self.ids[self.picked]

    def claims(self) -> list[Claim]:
        """Return the meaning of the ID: one row of the table."""
        numbers = {"n_rows": self.n_rows, "n_dims": self.values.shape[1]}
        piece = quoted(self.piece)
        return [claim("tokens.row", piece=piece, token_id=self.token_id, **numbers)]

    def figure(self) -> go.Figure:
        """Return the rows as strips."""
        piece = shortened(self.piece, _MAX_TITLE_LENGTH)
        numbers = {"token_id": self.token_id, "n_rows": self.n_rows}
        title = say("tokens.page.row_title", piece=piece, **numbers)
        return vector_strips(self.values, self.names, chosen=self.picked, title=title)

    def alt(self) -> str:
        """Return a description of the strips."""
        return say("tokens.page.row_alt", first=self.ids[0], last=self.ids[-1])

    def table(self) -> pd.DataFrame:
        """Return the first values of each row."""
        columns = [f"dim {d}" for d in range(_N_VALUES)]
        table = pd.DataFrame(self.values[:, :_N_VALUES], columns=columns)
        table.insert(0, "row", self.names)
        return table

    def snippet(self) -> str:
        """Return a script for `row` and `product`, which are equal."""
        return self.code


def id_to_row(
    tokenized: TokenizedSentence, service: EncoderService, model: ModelCard
) -> IdRow | None:
    """Return the picked token's row of the table, with adjacent rows; None if its ID has no row."""
    token_id, last = tokenized.picked_id, last_row(tokenized.vocabulary, model)
    if token_id > last:
        return None
    ids = list(range(max(0, token_id - _NEIGHBOURS), min(last, token_id + _NEIGHBOURS) + 1))
    names = [f"{i}  {tokenized.vocabulary.pieces[i]}" for i in ids]
    return IdRow(
        ids=ids,
        names=names,
        values=service.word_rows(model.id, ids),
        picked=ids.index(token_id),
        piece=tokenized.labels[tokenized.picked],
        n_rows=model.vocabulary_size,
        code=row_snippet(model, token_id),
    )


def last_row(vocabulary: Vocabulary, model: ModelCard) -> int:
    """Return the last row of the table that belongs to a piece of the vocabulary."""
    return min(len(vocabulary.pieces), model.vocabulary_size) - 1


def row_snippet(card: ModelCard, token_id: int) -> str:
    """Return a script for `row` and `product`, (dims,) each, which are equal."""
    lines = [
        "import torch",
        "from transformers import AutoModel",
        "",
        *[line for line in load_lines(card) if not line.startswith("tokenizer = ")],
        "matrix = model.get_input_embeddings().weight.detach()",
        f"one_hot = torch.zeros(len(matrix)).index_fill(0, torch.tensor({token_id}), 1.0)",
        "product = one_hot @ matrix",
        f"row = matrix[{token_id}]",
        "print(torch.equal(product, row), row[:8])",
    ]
    return "\n".join(lines) + "\n"
