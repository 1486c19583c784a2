"""What Tokens & IDs says, against its numbers: any texts, any tokenizer, then whole sentences."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from components.analysis.tokens import kinds, labels, source
from components.content.language import Claim
from components.content.wording import quoted
from components.core import BUNDLED_ID, EncoderService
from components.core.schema import Tokens, Vocabulary
from components.core.words import split_words
from components.features.tokens.measures import WordCut
from components.features.tokens.reading import (
    back_reading,
    cut_reading,
    padding_note,
    row_reading,
    tokenizers_reading,
    tokens_reading,
    tokens_sure,
    twins_reading,
    unknown_reason,
    vocabulary_reading,
)
from tests.support.claims import read, unreached
from tests.support.tiny_models import FAMILIES

N_MADE = 2000
MODELS = (BUNDLED_ID, "folder:roberta", "folder:albert", "folder:bert")
WORDS = (
    *("the", "The", "python", "Python", "unmasked", "tokenizer", "naïve", "naive", "US", "us", "!"),
    *("🐍", "🍕", "👩‍👧", "蟒蛇", "שלי", "สวัสดี", "\x00", "\u200b", "[MASK]", "[UNK]", "x" * 120),
    *("don't", "3.14", "...", "  ", "\t", "ﬁne", "e\u0301", "zzyzx", "*b*", "İ", "a"),
)


# Any texts


@pytest.fixture(scope="module")
def tokenize(tiny_service: EncoderService) -> Callable[..., tuple[Tokens, Vocabulary]]:
    def made(model: str, text: str, pair: str | None = None, **more: Any) -> Any:
        pairs = None if pair is None else [pair]
        tokens = tiny_service.tokenize(model, [text], pairs=pairs, **more)[0]
        return tokens, tiny_service.vocabulary(model)

    return made


def odd_text(chance: random.Random) -> str:
    """Some words of few, so that they occur again; now and then none."""
    few = chance.sample(WORDS, chance.choice((1, 2, 6)))
    n = chance.choice((0, 1, 2, 5, 9))
    return chance.choice((" ", " ", "")).join(chance.choice(few) for _ in range(n))


def whole_words(tokens: Tokens) -> dict[tuple[int, int], list[int]]:
    """The tokens of each word, without those whose end did not fit: counted another way."""
    found = defaultdict(list)
    for i in range(tokens.n_tokens):
        if tokens.word_ids[i] >= 0:
            found[int(tokens.text_ids[i]), int(tokens.word_ids[i])].append(i)
    for which, text in enumerate((tokens.text, tokens.pair or "")):
        own = tokens.offsets[tokens.text_ids == which, 1].tolist()
        rest = text[max(own, default=0) :]
        if tokens.n_truncated and rest.strip():
            gone = len(text) - len(rest.lstrip())
            for i, (_, end) in enumerate(split_words(text)):
                if end > gone:
                    found.pop((which, i), None)
    return found


def written(tokens: Tokens, word: tuple[int, int]) -> str:
    text = (tokens.text, tokens.pair or "")[word[0]]
    return text[slice(*split_words(text)[word[1]])]


def assert_tokens(claims: list[Claim], sure: list[Claim], tokens: Tokens, own: Any) -> None:
    """Counts, cut words and all that the model misses are said, once each."""
    by_key = {claim.key.removeprefix("tokens."): claim.numbers for claim in [*claims, *sure]}
    assert len(by_key) == len(claims) + len(sure)
    assert len(claims) <= 3
    n_own, n_added = int((tokens.text_ids >= 0).sum()), own.count("special")
    count = claims[0]
    assert count.key.startswith("tokens.count.")
    assert (count.key == "tokens.count.none") == (n_own == 0)
    if n_own:
        assert ("pair" in count.key) == (tokens.pair is not None)
        assert count.numbers["n"] == n_own + n_added
    if count.key in ("tokens.count.text", "tokens.count.pair"):
        assert (count.numbers["n_own"], count.numbers["n_added"]) == (n_own, n_added)
    words = whole_words(tokens)
    cut = {written(tokens, word) for word, at in words.items() if len(at) > 1}
    assert ("cut" in by_key) == bool(cut)
    if cut:
        first = {}
        for word, at in words.items():
            if len(at) > 1:
                first.setdefault(written(tokens, word), len(at))
        assert by_key["cut"]["n"] == len(cut)
        assert by_key["cut"]["n_pieces"] == max(first.values())
        most = [word for word, n in first.items() if n == max(first.values())]
        assert by_key["cut"]["word"] in map(quoted, most)
    if "uncut" in by_key:
        assert words
        assert not tokens.n_truncated
    missing = {"lost": tokens.n_truncated, "unknown.tokens": own.count("unknown")}
    for key, n in {**missing, "padding": own.count("padding")}.items():
        assert by_key.get(key, {"n": 0})["n"] == n
    unknown = [quoted(source(tokens, i)) for i, kind in enumerate(own) if kind == "unknown"]
    if unknown:
        assert by_key["unknown.tokens"]["word"] == by_key["unknown.because"]["word"] == unknown[0]


def assert_twins(claims: list[Claim], tokens: Tokens, unknown_id: int | None) -> None:
    groups = same_ids(tokens)
    known = [words for ids, words in groups if unknown_id not in ids]
    unknown = [words for ids, words in groups if unknown_id in ids]
    by_key = {claim.key.rpartition(".")[2]: claim.numbers for claim in claims}
    assert set(by_key) == (
        {*(["known"] if known else []), *(["unknown"] if unknown else [])} or {"none"}
    )
    if known:
        assert by_key["known"]["n"] == len(known)
        assert by_key["known"]["words"] in [
            f"{quoted(words[0])} and {quoted(words[1])}" for words in known
        ]


def ids_of(tokens: Tokens) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for word, at in whole_words(tokens).items():
        found.setdefault(written(tokens, word), tuple(tokens.token_ids[at].tolist()))
    return found


def same_ids(tokens: Tokens) -> list[tuple[tuple[int, ...], list[str]]]:
    own = ids_of(tokens)
    several = [ids for ids, n in Counter(own.values()).items() if n > 1]
    return [(ids, [word for word in own if own[word] == ids]) for ids in several]


def assert_both(claims: list[Claim], both: list[Tokens], unknown: list[int | None]) -> None:
    counts = [int((t.text_ids >= 0).sum()) + t.n_truncated for t in both]
    pieces = [[t.tokens[i] for i in range(t.n_tokens) if t.text_ids[i] >= 0] for t in both]
    first, *rest = claims
    case = first.key.rpartition(".")[2]
    if case == "none":
        assert not any(counts)
    elif case == "same":
        assert pieces[0] == pieces[1]
        assert [first.numbers["n"]] * 2 == counts
    else:
        assert [first.numbers["n_a"], first.numbers["n_b"]] == counts
        assert (case == "as_many") == (counts[0] == counts[1] and pieces[0] != pieces[1])
    for claim in rest:
        here = "PQ".index(claim.numbers["name"])
        ours, theirs = ids_of(both[here]), ids_of(both[1 - here])
        pairs = [
            (a, b)
            for a in ours
            for b in ours
            if f"{quoted(a)} and {quoted(b)}" == claim.numbers["words"]
            and ours[a] == ours[b]
            and theirs[a] != theirs[b]
        ]
        assert pairs
        is_unknown = unknown[here] in ours[pairs[0][0]]
        assert claim.key.endswith(".unknown" if is_unknown else ".merged")


def assert_looked_up(
    claims: list[Claim], query: str, tokens: Tokens, vocabulary: Vocabulary, n_found: int
) -> None:
    *what, found = claims
    if not query.strip():
        assert not what
        assert found.numbers == {"size": len(vocabulary.pieces), "listed": n_found}
        return
    assert found.numbers["n"] == n_found
    own = tokens.token_ids[tokens.text_ids >= 0].tolist()
    case = what[-1].key.rpartition(".")[2]
    n = len(own) + tokens.n_truncated
    if n > 1:
        assert (case, what[-1].numbers["n"]) == ("cut", n)
    elif n == 1:
        assert case == ("unknown" if own[0] == vocabulary.unknown_id else "token")
        assert what[-1].numbers["token_id"] == own[0]
    else:
        assert case == "dropped"
    if len(what) > 1:
        token_id = what[0].numbers["token_id"]
        assert vocabulary.pieces[token_id] == query.strip()
        assert own != [token_id]


def assert_back(claims: list[Claim], decoded: str, text: str, counts: dict[str, int]) -> None:
    first, *causes = claims
    case = first.key.rpartition(".")[2]
    assert (case == "empty") == (text == "")
    assert (case == "same") == (decoded == text != "")
    if case == "spaces":
        assert "".join(decoded.split()) == "".join(text.split())
        assert not any(counts.values())
    if case == "nothing":
        assert decoded == ""
    told = {claim.key.rpartition(".")[2]: claim.numbers["n"] for claim in causes}
    expected = {} if case in ("empty", "same") else {k: n for k, n in counts.items() if n}
    assert told == expected


@pytest.mark.slow
def test_every_sentence_is_true_of_any_text(
    tokenize: Callable[..., tuple[Tokens, Vocabulary]], tiny_service: EncoderService
) -> None:
    chance, said = random.Random(1), set()
    decode, normalize = tiny_service.decode, tiny_service.normalize
    for at in range(N_MADE):
        model, other = chance.sample(MODELS, 2)
        text, pair = odd_text(chance), chance.choice((None, None, odd_text(chance)))
        more = chance.choice(({}, {"max_length": chance.randint(5, 12)}, {"pad_to": 64}))
        tokens, vocabulary = tokenize(model, text, pair, **more)
        own, named = kinds(tokens, vocabulary), labels(tokens, vocabulary)
        unknown_id, name = vocabulary.unknown_id, "[UNK]"
        reasons = {
            i: str(unknown_reason(normalize(model, [source(tokens, i)])[0].strip(), vocabulary))
            for i, kind in enumerate(own)
            if kind == "unknown"
        }
        claims = tokens_reading(tokens, own, named, name)
        sure = tokens_sure(tokens, own, reasons, name)
        assert_tokens(claims, sure, tokens, own)
        twins = twins_reading(tokens, unknown_id, name)
        assert_twins(twins, tokens, unknown_id)
        said |= read([*claims, *sure, *twins])
        if at % 4:
            continue
        decoded = decode(model, tokens.token_ids[tokens.text_ids == 0])
        counts = {
            "rewritten": chance.randrange(3),
            "unknown": own.count("unknown"),
            "lost": tokens.n_truncated,
        }
        back = back_reading(decoded, text, *counts.values())
        assert_back(back, decoded, text, counts)
        rival, rivals = tokenize(other, text)
        alone, _ = tokenize(model, text)
        both = tokenizers_reading(alone, rival, ("P", "Q"), (unknown_id, rivals.unknown_id))
        assert_both(both, [alone, rival], [unknown_id, rivals.unknown_id])
        query = chance.choice((*WORDS, " ", chance.choice(vocabulary.pieces) or "a"))
        cut, _ = tokenize(model, query)
        n_found = chance.randrange(3)
        looked = vocabulary_reading(query, cut, vocabulary, n_found=n_found, reason="why.")
        assert_looked_up(looked, query, cut, vocabulary, n_found)
        said |= read([*back, *both, *looked])
    said |= read(made_by_hand(tokenize))
    names = ("tokens.column.", "tokens.kind.", "tokens.method.")  # tables that are read whole
    assert not [key for key in unreached("tokens", said) if not key.startswith(names)]


def made_by_hand(tokenize: Callable[..., tuple[Tokens, Vocabulary]]) -> list[Claim]:
    """What no text of the tokenizers here gives, or what is told of numbers alone."""
    note = padding_note(3, 7)
    assert note is not None
    assert padding_note(0, 7) is padding_note(7, 7) is padding_note(9, 7) is None
    claims = [note, row_reading("[UNK]", 100, 30_522, 384)]
    for n in (1, 2):
        tokens, _ = tokenize("folder:bert", " ".join(["a"] * n))
        alone = without_added(tokens)
        for which in (alone, without_added(tokens, pair="b")):
            claims += tokens_reading(which, ("token",) * n, ("a",) * n, "")[:1]
        claims += tokenizers_reading(tokens, tokens, ("P", "Q"), (None, None))
    claims += twins_reading(tokenize(BUNDLED_ID, "The the US us")[0], None, "")
    _, vocabulary = tokenize("folder:bert", "")
    _, unigram = tokenize("folder:albert", "")
    claims += [unknown_reason(text, vocabulary) for text in ("abc", "a" * 200, "🐍", "🐍🍕")]
    claims += [unknown_reason(text, unigram) for text in ("🐍", "🐍🍕")]
    for method in ("WordPiece", "BPE", "Unigram"):
        for parts, pieces, n_rows in ((1, 1, 0), (1, 2, 2), (2, 2, 2), (1, 1, 1)):
            rows: tuple[Any, ...] = ({"piece": "a"},) * n_rows
            claims.append(cut_reading(WordCut(("a",) * parts, ("a",) * pieces, rows), method))
    return [*claims, *back_reading("x", "y", 1, 1, 1), *back_reading("", "y", 2, 2, 2)]


def without_added(tokens: Tokens, pair: str | None = None) -> Any:
    """The tokens of a text as a tokenizer without special tokens would give them."""
    own = [i for i in range(tokens.n_tokens) if tokens.text_ids[i] >= 0]
    return SimpleNamespace(
        text=tokens.text,
        pair=pair,
        tokens=[tokens.tokens[i] for i in own],
        n_tokens=len(own),
        n_truncated=0,
        text_ids=tokens.text_ids[own],
        word_ids=tokens.word_ids[own],
        offsets=tokens.offsets[own],
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_every_unknown_token_has_a_reason(tiny_service: EncoderService, family: str) -> None:
    model = f"folder:{family}"
    vocabulary = tiny_service.vocabulary(model)
    for text in WORDS:
        tokens = tiny_service.tokenize(model, [text])[0]
        for i, kind in enumerate(kinds(tokens, vocabulary)):
            if kind == "unknown":
                normalized = tiny_service.normalize(model, [source(tokens, i)])[0].strip()
                reason = str(unknown_reason(normalized, vocabulary))
                assert reason.endswith(".")
                assert reason.isprintable()


# As they are read


def said(tokens: Tokens, vocabulary: Vocabulary, name: str = "[UNK]") -> str:
    own = kinds(tokens, vocabulary)
    return plain(tokens_reading(tokens, own, labels(tokens, vocabulary), name))


def plain(claims: list[Claim]) -> str:
    return " ".join(map(str, claims)).replace("\\", "").replace("**", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The tokenizer unmasked it",
            "The text becomes 9 tokens: 7 from the text and 2 added by the tokenizer ([CLS], "
            "[SEP]). 2 different words are cut into pieces. “unmasked” is cut into the most: un "
            "##mas ##ked.",
        ),
        ("", "No token of the text reaches the model: it sees only [CLS], [SEP]."),
        (
            "my 🐍 and 🍕",
            "The text becomes 6 tokens: 4 from the text and 2 added by the tokenizer ([CLS], "
            "[SEP]). No word is cut into pieces. 2 tokens are unknown ([UNK]): the model cannot "
            "tell what stood there, for example “🐍”.",
        ),
    ],
)
def test_a_text_is_told(tokenize: Callable[..., Any], text: str, expected: str) -> None:
    assert said(*tokenize(BUNDLED_ID, text)) == expected


def test_a_typed_special_token_is_a_token_of_the_text(tokenize: Callable[..., Any]) -> None:
    assert "3 from the text and 2 added" in said(*tokenize(BUNDLED_ID, "my [MASK] [CLS]"))


def test_roberta_s_special_tokens_are_its_own(tokenize: Callable[..., Any]) -> None:
    text = said(*tokenize("folder:roberta", "the", "the"))
    assert "(<s>, </s>)" in text
    assert text.startswith("The two texts become ")


def test_two_unknown_words_are_called_unknown(tokenize: Callable[..., Any]) -> None:
    tokens, vocabulary = tokenize(BUNDLED_ID, "🐍 🍕 US us")
    assert plain(twins_reading(tokens, vocabulary.unknown_id, "[UNK]")) == (
        "“US” and “us” get the same token IDs, so the model cannot tell them apart. “🐍” and “🍕” "
        "are unknown to this tokenizer ([UNK]), so the model cannot tell them apart."
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Where", "“Where” becomes one token: where (ID 2073). 2 pieces in the list match it."),
        ("##an", "“##an” is itself in the vocabulary, with the ID 2319. “##an” becomes 3 tokens:"),
        ("\x00", "so nothing of it reaches the model. 2 pieces in the list match it."),
        (" ", "The vocabulary has 30,522 pieces; 2 of them are listed."),
    ],
)
def test_a_query_is_answered(tokenize: Callable[..., Any], query: str, expected: str) -> None:
    claims = vocabulary_reading(query, *tokenize(BUNDLED_ID, query), n_found=2, reason="")
    assert expected in plain(claims)


def test_why_a_word_is_unknown(tokenize: Callable[..., Any]) -> None:
    _, vocabulary = tokenize(BUNDLED_ID, "")
    assert str(unknown_reason("🐍", vocabulary)) == (
        "🐍 (U+1F40D) is not in the vocabulary, so the whole word becomes one unknown token."
    )
    assert "U+200E is not" in str(unknown_reason("\u200e", vocabulary))
