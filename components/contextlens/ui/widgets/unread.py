"""What a model cannot read of a text, in sentences: pages show them beside every number."""

from __future__ import annotations

from collections.abc import Mapping

from contextlens.analysis.tokens import kinds, source
from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, named_character, quoted
from contextlens.core import EncoderService
from contextlens.core.schema import Tokens, Vocabulary

_STRANGE = 3  # the most characters that are named


def unread(texts: Mapping[str, Tokens], service: EncoderService, model: str) -> list[Claim]:
    """One claim for each text of which the model cannot read something; unknown tokens count.

    Args:
        texts: the tokens of each text, by its name on the page, ready to be shown, such as "A".
        service: has the tokenizer.
        model: the model's id.
    """
    vocabulary, claims = service.vocabulary(model), []
    for name, tokens in texts.items():
        n_own, unknown = int((tokens.text_ids >= 0).sum()), unknown_positions(tokens, vocabulary)
        if not n_own and tokens.text.strip():
            claims.append(claim("unread.nothing", name=name))
        if not unknown:
            continue
        text = source(tokens, unknown[0])
        reason = unknown_reason(service.normalize(model, [text])[0].strip(), vocabulary)
        case = "only" if len(unknown) == n_own else "unknown"
        names = {"name": name, "word": quoted(text), "reason": escape(str(reason))}
        claims.append(claim(f"unread.{case}", n=len(unknown), **names))
    return claims


def unknown_positions(tokens: Tokens, vocabulary: Vocabulary) -> list[int]:
    """The positions of the unknown tokens; a typed "[UNK]" does not count."""
    return [i for i, kind in enumerate(kinds(tokens, vocabulary)) if kind == "unknown"]


def unknown_reason(normalized: str, vocabulary: Vocabulary) -> Claim:
    """The reason why (normalised) characters become an unknown token, as plain text."""
    known = vocabulary.characters
    strange = [c for c in dict.fromkeys(normalized) if not c.isspace() and c not in known]
    longest = vocabulary.longest_word
    if longest is not None and len(normalized) > longest:
        return claim("unread.reason.long", longest=longest)
    if not strange:
        return claim("unread.reason.order")
    names = ", ".join(map(named_character, strange[:_STRANGE]))
    subject = "word" if vocabulary.method == "WordPiece" else "characters"
    return claim(f"unread.reason.{subject}", n=len(strange), names=names)
