"""Two tokenizers on one text: what is said of them, for any texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pytest

from contextlens.content.language import Claim
from contextlens.content.wording import quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.schema import Tokens
from contextlens.features.tokens.two_tokenizers import (
    TwoTokenizers,
    other_tokenizers,
    twins_claims,
)
from contextlens.ui.state.view import DEFAULT
from tests.features.tokens.odd import MODELS, odd_tokens, tokenize, whole_words, written
from tests.features.tokens.shown import plain
from tests.support.claims import read, unreached


def test_other_tokenizers_are_all_but_the_own_the_cased_one_first(
    tiny_service: EncoderService,
) -> None:
    others = list(other_tokenizers(DEFAULT, tiny_service))
    assert set(others) == {spec.id for spec in tiny_service.models()} - {BUNDLED_ID}
    assert others[0] == "google-bert/bert-base-cased"


def ids_of(tokens: Tokens) -> dict[str, tuple[int, ...]]:
    ids: dict[str, tuple[int, ...]] = {}
    for word, positions in whole_words(tokens).items():
        ids.setdefault(written(tokens, word), tuple(tokens.token_ids[positions].tolist()))
    return ids


def both(words: Sequence[str]) -> str:
    return f"{quoted(words[0])} and {quoted(words[1])}"


def assert_twins(claims: list[Claim], tokens: Tokens, unknown_id: int | None) -> None:
    groups: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for word, ids in ids_of(tokens).items():
        groups[ids].append(word)
    twins = {ids: words for ids, words in groups.items() if len(words) > 1}
    known = [both(words) for ids, words in twins.items() if unknown_id not in ids]
    by_key = {claim.key.rpartition(".")[2]: claim.numbers for claim in claims}
    expected = {"known": bool(known), "unknown": len(known) < len(twins), "none": not twins}
    assert set(by_key) == {key for key, holds in expected.items() if holds}
    if known:
        assert by_key["known"]["n"] == len(known)
        assert by_key["known"]["words"] in known


def assert_both(claims: list[Claim], pair: list[Tokens], unknown: list[int | None]) -> None:
    counts = [int((t.text_ids >= 0).sum()) + t.n_truncated for t in pair]
    pieces = [[t.tokens[i] for i in range(t.n_tokens) if t.text_ids[i] >= 0] for t in pair]
    first, *differences = claims
    case = first.key.rpartition(".")[2]
    if case == "none":
        assert not any(counts)
    elif case == "same":
        assert pieces[0] == pieces[1]
        assert [first.numbers["n"]] * 2 == counts
    else:
        assert [first.numbers["n_a"], first.numbers["n_b"]] == counts
        assert (case == "as_many") == (counts[0] == counts[1] and pieces[0] != pieces[1])
    for claim in differences:
        side = "PQ".index(claim.numbers["name"])
        ours, theirs = ids_of(pair[side]), ids_of(pair[1 - side])
        merged = {both((a, b)): ours[a] for a in ours for b in ours
                  if ours[a] == ours[b] and theirs.get(a) != theirs.get(b)}  # fmt: skip
        is_unknown = unknown[side] in merged[claim.numbers["words"]]
        assert claim.key.endswith(".unknown" if is_unknown else ".merged")


@pytest.mark.slow
def test_every_claim_is_true_of_any_text_and_none_is_dead(tiny_service: EncoderService) -> None:
    keys: set[str] = set()
    for at, (chance, model, tokens, vocabulary) in enumerate(odd_tokens(tiny_service, 2000)):
        twins = twins_claims(tokens, vocabulary.unknown_id, "[UNK]")
        assert_twins(twins, tokens, vocabulary.unknown_id)
        keys |= read(twins)
        if at % 4:
            continue
        other = chance.choice([name for name in MODELS if name != model])
        rival, rivals = tokenize(tiny_service, other, tokens.text)
        alone, _ = tokenize(tiny_service, model, tokens.text)
        claims = TwoTokenizers((alone, rival), ("P", "Q"), (vocabulary, rivals)).claims()
        assert_both(claims, [alone, rival], [vocabulary.unknown_id, rivals.unknown_id])
        keys |= read(claims)
    for n in (1, 2):
        tokens, vocabulary = tokenize(tiny_service, "folder:bert", " ".join(["a"] * n))
        same = TwoTokenizers((tokens, tokens), ("P", "Q"), (vocabulary, vocabulary))
        keys |= read(same.claims())
    keys |= read(twins_claims(tokenize(tiny_service, BUNDLED_ID, "The the US us")[0], None, ""))
    dead = [*unreached("tokens.both", keys), *unreached("tokens.twins", keys)]
    assert not dead


def test_two_unknown_words_are_called_unknown(service: EncoderService) -> None:
    tokens, vocabulary = tokenize(service, BUNDLED_ID, "🐍 🍕 US us")
    assert plain(twins_claims(tokens, vocabulary.unknown_id, "[UNK]")) == (
        "“US” and “us” get the same token IDs, so the model cannot tell them apart. “🐍” and “🍕” "
        "are unknown to this tokenizer ([UNK]), so the model cannot tell them apart."
    )
