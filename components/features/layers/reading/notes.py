"""What a reader should know of a text and a model before trusting what is shown."""

from __future__ import annotations

__all__ = ["shapes_note", "text_notes"]


def shapes_note(shape: tuple[int, int, int], pooler: str | None) -> str:
    """The shapes of what a model gives.

    Args:
        shape: of the hidden states.
        pooler: whether the pooler is trained; None where it gives nothing.
    """
    layers, tokens, dims = shape
    pooled = "none" if pooler is None else f"({dims},), {pooler}"
    return (
        f"**Shapes** · hidden states ({layers} layers, {tokens} tokens, {dims} dimensions) · one "
        f"token ({dims},) · pooler output {pooled}"
    )


def text_notes(
    *, n_own: int, n_unknown: int, n_lost: int, has_pair: bool, has_segments: bool
) -> list[str]:
    """Tokens that are unknown or left out, and how two texts go together.

    Args:
        n_own: the text's own tokens.
        n_unknown: how many of them are unknown to the model.
        n_lost: tokens that the model has no room for.
        has_pair: whether there are two texts.
        has_segments: whether the model has segments.
    """
    said = [_unknown(n_unknown, n_own)] if n_unknown else []
    if n_lost:
        said.append(_lost(n_lost, has_pair=has_pair))
    return [*said, _together(has_segments=has_segments)] if has_pair else said


def _lost(n_lost: int, *, has_pair: bool) -> str:
    if has_pair:
        left = "1 token is" if n_lost == 1 else f"{n_lost} tokens are"
        return f"The two texts are longer than the model takes: {left} left out."
    left = "token is" if n_lost == 1 else f"{n_lost} tokens are"
    return f"The text is longer than the model takes; its last {left} left out."


def _unknown(n_unknown: int, n_own: int) -> str:
    many = "The only token" if n_unknown == n_own == 1 else f"{n_unknown} of {n_own} tokens"
    verb = "is" if n_unknown == 1 else "are"
    return (
        f"{many} of this text {verb} unknown to the model: what the layers hold there is "
        "about an unknown piece, not about what you typed."
    )


def _together(*, has_segments: bool) -> str:
    both = "Both texts run through the layers together"
    if has_segments:
        return f"{both}; every token can draw on either."
    return (
        f"{both}. This model has no segments: only the tokens between them tell it where the "
        "second begins."
    )
