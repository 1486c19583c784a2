from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.analysis.baseline import Band
from components.analysis.similarity import Comparison, Item, Pair
from components.content.wording import escape, quoted
from components.ui.widgets.comparison.reading import (
    NOISE,
    BandOf,
    against,
    meaning_in_context,
    meaning_title,
)

LETTERS = "ABCDEFGH"
BOLD = re.compile(r"\*\*(.*?)\*\*")
CLOSER = re.compile(
    r"^“(?P<ref>\w+)” is closer to “(?P<near>\w+)” in \w \(\*\*(?P<high>\S+)\*\*\) "
    r"than to “(?P<far>\w+)” in \w \(\*\*(?P<low>\S+)\*\*\)(?P<rest>.*)\.$"
)
MOST = re.compile(
    r"“(\w+)” in \w and “(\w+)” in \w are most alike \(\*\*(\S+)\*\*\), "
    r"“(\w+)” in \w and “(\w+)” in \w least \(\*\*(\S+)\*\*\)"
)


def made(
    values: Mapping[str, Sequence[float]],
    *,
    sentences: Sequence[str] = ("python", "python"),
    references: Sequence[str] = (),
    centred: bool = False,
) -> Comparison:
    """A comparison with given cosines: "AB" for two sentences, "A0" for a sentence and the first
    reference, each over the layers from 0 on; what is not given is 0."""
    n = len(sentences) + len(references)
    n_layers = len(next(iter(values.values())))
    cosines = np.zeros((n_layers, n, n), np.float32)
    cosines[:, range(n), range(n)] = 1
    places = {letter: i for i, letter in enumerate(LETTERS[: len(sentences)])}
    places |= {str(i): len(sentences) + i for i in range(len(references))}
    for (a, b), along in values.items():
        cosines[:, places[a], places[b]] = cosines[:, places[b], places[a]] = along
    return comparison_of(cosines, sentences, references, centred=centred)


def comparison_of(
    cosines: np.ndarray,
    sentences: Sequence[str],
    references: Sequence[str],
    *,
    centred: bool = False,
) -> Comparison:
    own = [Item(LETTERS[i], word, "sentence", i) for i, word in enumerate(sentences)]
    items = (*own, *(Item("", word, "reference", 8) for word in references))
    return Comparison(
        items=items,
        layers=tuple(range(len(cosines))),
        vectors=np.zeros((len(items), len(cosines), 2), np.float32),
        cosines=cosines.astype(np.float32),
        static=cosines[0].astype(np.float32),
        centred=centred,
    )


def band_of(low: float, mean: float, high: float, n_layers: int) -> BandOf:
    """The same random pairs for every pair."""
    band = Band(*(np.full(n_layers, value, np.float32) for value in (low, mean, high)))
    return lambda _: band


def no_band(_: Pair) -> None:
    """No random pairs to hold a pair against."""


STORY = {
    "AB": [1.0, 0.96, 0.93, 0.78],
    "A0": [0.34, 0.53, 0.56, 0.51],
    "B0": [0.34, 0.47, 0.47, 0.28],
    "A1": [0.25, 0.38, 0.41, 0.26],
    "B1": [0.25, 0.40, 0.43, 0.41],
}


@pytest.fixture
def story() -> Comparison:
    return made(STORY, references=("snake", "programming"))


# The opening example


def test_the_expected_story(story: Comparison) -> None:
    assert meaning_in_context(story, 3, no_band) == [
        "“python” in A and “python” in B start equal at layer 0 and have a cosine of **0.78** "
        "at layer 3.",
        "“snake” is closer to “python” in A (**0.51**) than to “python” in B (**0.28**), "
        "at every layer from 1 on.",
        "“programming” is closer to “python” in B (**0.41**) than to “python” in A (**0.26**) "
        "here, but not at layers 0 to 2.",
    ]


def test_at_layer_0_the_story_has_not_begun(story: Comparison) -> None:
    said = meaning_in_context(story, 0, no_band)
    assert "(**1.00**)" in said[0]
    assert said[1].startswith("“snake” is equally close to ")
    assert said[2].startswith("“programming” is equally close to ")
    assert not any("closer" in sentence for sentence in said)


def test_sentences_are_compared_and_references_never(story: Comparison) -> None:
    """B's python is closer to snake than to programming at layers 1 and 2: no one says so."""
    for layer in story.layers:
        for sentence in meaning_in_context(story, layer, no_band):
            assert not ("snake" in sentence and "programming" in sentence)


def test_where_the_story_fails_the_reading_says_the_opposite() -> None:
    failing = made(
        {"AB": [1.0, 0.9], "A0": [0.34, 0.28], "B0": [0.34, 0.51]}, references=("snake",)
    )
    assert meaning_in_context(failing, 1, no_band)[1].startswith(
        "“snake” is closer to “python” in B (**0.51**) than to “python” in A (**0.28**)"
    )


def test_the_widest_difference_comes_first_and_two_references_are_enough() -> None:
    wide = {"AB": [0.5], "A0": [0.2], "B0": [0.3], "A1": [0.1], "B1": [0.9], "A2": [0.5]}
    said = meaning_in_context(made(wide, references=("one", "two", "three")), 0, no_band)
    assert [BOLD.findall(s) for s in said[1:]] == [["0.90", "0.10"], ["0.50", "0.00"]]
    assert said[1].startswith("“two”")
    assert said[2].startswith("“three”")


# Over which layers the order holds


@pytest.mark.parametrize(
    ("gaps", "layer", "rest"),
    [
        ([0.2, 0.2, 0.2, 0.2], 3, ", at every layer"),
        ([0.2, 0.2, 0.2, 0.2], 0, ", at every layer"),
        ([0.0, 0.2, 0.2, 0.2], 3, ", at every layer from 1 on"),
        ([0.0, 0.2, 0.2, 0.2], 1, ", at every layer from 1 on"),
        ([-0.2, 0.2, -0.2, 0.2, 0.2], 4, ", at every layer from 3 on"),
        ([0.2, -0.2, 0.2, 0.2], 2, ", at every layer from 2 on"),
        ([-0.2, -0.2, -0.2, 0.2], 3, " here, but not at layers 0 to 2"),
        ([0.2, 0.2, -0.2, 0.2], 0, " here, but not at layer 2"),
        ([0.2, 0.2, 0.2, -0.2], 1, " here, but not at layer 3"),
        ([0.2, -0.2], 0, " here, but not at layer 1"),
        ([0.2], 0, ""),
    ],
)
def test_it_is_said_over_which_layers_an_order_holds(
    gaps: list[float], layer: int, rest: str
) -> None:
    values = {
        "AB": [0.5] * len(gaps),
        "A0": [0.4 + gap / 2 for gap in gaps],
        "B0": [0.4 - gap / 2 for gap in gaps],
    }
    said = meaning_in_context(made(values, references=("snake",)), layer, no_band)
    match = CLOSER.match(said[1])
    assert match is not None
    assert match["rest"] == rest


def test_rounding_noise_is_no_order() -> None:
    """The same vector from two batches differs in the last bits: at layer 0 nothing is closer."""
    noisy = made(
        {"AB": [1.0, 0.9, 0.9], "A0": [0.3400001, 0.53, 0.53], "B0": [0.34, 0.47, 0.47]},
        references=("snake",),
    )
    assert meaning_in_context(noisy, 0, no_band)[1].startswith("“snake” is equally close")
    assert meaning_in_context(noisy, 2, no_band)[1].endswith(" from 1 on.")


def test_what_is_called_equal_at_one_layer_is_not_called_closer_from_another() -> None:
    close = made(
        {"AB": [0.9, 0.9, 0.9], "A0": [0.342, 0.5, 0.5], "B0": [0.34, 0.4, 0.4]},
        references=("snake",),
    )
    here, later = (meaning_in_context(close, layer, no_band)[1] for layer in (0, 2))
    assert "equally close" in here
    assert not later.endswith(", at every layer.")


# The sentences' words among themselves


def test_an_equal_pair_is_called_equal_at_every_layer() -> None:
    same = made({"AB": [1.0, 1.0, 1.0]})
    for layer in same.layers:
        (said,) = meaning_in_context(same, layer, no_band)
        assert BOLD.findall(said) == ["1.00"]
        assert f"layer {layer}" in said
        assert "start" not in said


def test_nearly_one_is_not_called_the_same_vector() -> None:
    (said,) = meaning_in_context(made({"AB": [1.0, 0.9996]}), 1, no_band)
    assert "the same vector" not in said


def test_other_words_with_the_same_vector_are_not_called_the_same_word() -> None:
    """An uncased model reads "US" and "us" as one token; first sub-tokens agree more often."""
    (said,) = meaning_in_context(made({"AB": [1.0, 0.8]}, sentences=("US", "us")), 0, no_band)
    assert "same word" not in said


def test_a_pair_that_differs_from_the_start_is_said_so() -> None:
    (said,) = meaning_in_context(made({"AB": [0.34, 0.5]}, sentences=("good", "bad")), 1, no_band)
    assert said == (
        "“good” in A and “bad” in B start at **0.34** at layer 0 and have a cosine of **0.50** "
        "at layer 1."
    )
    (at_start,) = meaning_in_context(made({"AB": [0.34, 0.5]}), 0, no_band)
    assert BOLD.findall(at_start) == ["0.34"]
    assert "start" not in at_start


def test_of_several_pairs_the_highest_and_the_lowest_are_named() -> None:
    three = made({"AB": [0.9], "AC": [0.2], "BC": [0.5]}, sentences=("river", "money", "cash"))
    (said,) = meaning_in_context(three, 0, no_band)
    match = MOST.search(said)
    assert match is not None
    assert match.groups() == ("river", "money", "0.90", "river", "cash", "0.20")


def test_eight_times_the_same_sentence_is_all_alike() -> None:
    pairs = {a + b: [1.0, 1.0] for a, b in combinations(LETTERS, 2)}
    same = made(pairs, sentences=["python"] * 8)
    for layer in (0, 1):
        (said,) = meaning_in_context(same, layer, band_of(-0.1, 0.05, 0.2, 2))
        assert "all pairs" in said
        assert set(BOLD.findall(said)) == {"1.00"}
        assert "least" not in said
    assert "part most" not in meaning_title(same)


def test_eight_sentences_and_eight_references_still_fit_in_three_sentences() -> None:
    random = np.random.default_rng(0)
    cosines = symmetric(random.uniform(-1, 1, (13, 16, 16)))
    many = comparison_of(cosines, ["python"] * 8, [f"reference{i}" for i in range(8)])
    for layer in many.layers:
        said = meaning_in_context(many, layer, band_of(-0.1, 0.05, 0.2, 13))
        assert len(said) == 3
        assert len(" ".join(said)) < 700


def test_one_sentence_with_references_has_its_cosines_said() -> None:
    one = made(
        {"A0": [0.3, 0.51], "A1": [0.2, 0.26]},
        sentences=("python",),
        references=("snake", "programming"),
    )
    said = meaning_in_context(one, 1, band_of(-0.1, 0.05, 0.2, 2))
    assert 1 <= len(said) <= 3
    assert [BOLD.findall(sentence) for sentence in said] == [["0.51"], ["0.26"]]
    assert not any("closer" in sentence for sentence in said)
    assert all("cosine" in sentence for sentence in said)  # "at 0.51 from" reads as a distance
    assert meaning_title(one) == "Cosine at every layer"


def test_references_alone_can_differ() -> None:
    only = made({"AB": [1.0, 1.0], "A0": [0.3, 0.6], "B0": [0.3, 0.2]}, references=("snake",))
    said = meaning_in_context(only, 1, no_band)
    assert BOLD.findall(said[0]) == ["1.00"]
    assert BOLD.findall(said[1]) == ["0.60", "0.20"]


def test_an_order_shows_in_the_numbers_beside_it() -> None:
    """ "closer to A (0.51) than to B (0.51)" reads as a mistake."""
    near = made({"AB": [0.9], "A0": [0.5149], "B0": [0.5051]}, references=("snake",))
    for sentence in meaning_in_context(near, 0, no_band):
        numbers = BOLD.findall(sentence)
        assert "closer" not in sentence or len(set(numbers)) == 2
    three = made({"AB": [0.5149], "AC": [0.5051], "BC": [0.51]}, sentences=["bank"] * 3)
    (said,) = meaning_in_context(three, 0, no_band)
    assert "least" not in said or len(set(BOLD.findall(said))) == 2


def test_a_tiny_negative_number_is_no_minus_zero() -> None:
    flat = made({"AB": [0.5, -0.001], "A0": [0.3, -0.004], "B0": [0.3, 0.2]}, references=("x",))
    said = " ".join(meaning_in_context(flat, 1, band_of(-0.1, -0.002, 0.1, 2)))
    assert "-0.00" not in said
    assert "0.00" in said


def test_a_centred_cosine_is_called_that() -> None:
    centred = made({"AB": [0.3, -0.4]}, centred=True)
    (said,) = meaning_in_context(centred, 0, no_band)
    assert "centred cosine" in said


# Against random pairs


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (0.61, "more alike than 95 of 100 random pairs of English words"),
        (0.59, "as alike as random pairs of English words often are"),
        (0.21, "as alike as random pairs of English words often are"),
        (0.19, "less alike than 95 of 100 random pairs of English words"),
    ],
)
def test_a_cosine_stands_above_in_or_below_the_band(value: float, place: str) -> None:
    (said,) = meaning_in_context(made({"AB": [1.0, value]}), 1, band_of(0.2, 0.4, 0.6, 2))
    assert said.endswith(f", {place} (average 0.40).")


def test_a_narrow_band_is_not_read_against_its_own_digits() -> None:
    """A cosine of 0.40 is not "more alike" than pairs that average 0.40."""
    (said,) = meaning_in_context(made({"AB": [1.0, 0.4035]}), 1, band_of(0.399, 0.401, 0.402, 2))
    assert said.endswith(" often are (average 0.40).")


def test_the_bands_own_layer_counts() -> None:
    own = Band(*(np.array(row, np.float32) for row in ([0.0, 0.6], [0.1, 0.7], [0.2, 0.8])))

    def band(_: Pair) -> Band:
        return own

    pair = made({"AB": [0.5, 0.5]})
    assert "more alike" in meaning_in_context(pair, 0, band)[0]
    assert "less alike" in meaning_in_context(pair, 1, band)[0]
    assert "0.70" in meaning_in_context(pair, 1, band)[0]


def test_without_a_baseline_nothing_is_said_of_random_pairs(story: Comparison) -> None:
    for layer in story.layers:
        assert "random" not in " ".join(meaning_in_context(story, layer, no_band))


def test_of_several_pairs_the_average_stands_beside() -> None:
    three = made({"AB": [0.9], "AC": [0.2], "BC": [0.5]}, sentences=["bank"] * 3)
    (said,) = meaning_in_context(three, 0, band_of(0.0, 0.15, 0.3, 1))
    assert said.endswith("; random pairs of English words average 0.15.")


# The title


def test_the_title_names_the_layer_where_the_words_part(story: Comparison) -> None:
    assert meaning_title(story) == "A and B part most at layer 3"
    early = made({"AB": [1.0, 0.7, 0.6, 0.65]})
    assert meaning_title(early) == "A and B part most at layer 1"


def test_the_title_names_the_pair_that_parts_most() -> None:
    three = made(
        {"AB": [1.0, 0.98, 0.97], "AC": [1.0, 0.95, 0.6], "BC": [1.0, 0.8, 0.7]},
        sentences=["bank"] * 3,
    )
    assert meaning_title(three) == "A and C part most at layer 2"


def test_words_that_stay_together_are_not_said_to_part() -> None:
    assert meaning_title(made({"AB": [1.0, 1.0, 0.995]})) == "No layer pulls these words apart"
    assert "part most" not in meaning_title(made({"AB": [0.3, 0.4, 0.6]}))


def test_a_fall_within_noise_is_no_parting() -> None:
    """A drop of 0.017 is what a full stop more or less makes."""
    assert meaning_title(made({"AB": [1.0, 0.983, 0.99]})) == "No layer pulls these words apart"


def test_steps_that_are_alike_have_no_steepest() -> None:
    steady = made({"AB": [1.0, 0.636, 0.279]})  # falls of 0.364 and 0.357
    assert meaning_title(steady) == "A and B part between layers 0 and 2"


def test_pairs_that_fall_alike_have_no_first() -> None:
    alike = made({"AB": [1.0, 0.6], "AC": [1.0, 0.61], "BC": [1.0, 0.9]}, sentences=["bank"] * 3)
    assert meaning_title(alike) == "Cosines fall by up to 0.40 below layer 0"


def test_words_that_part_in_small_steps_are_said_to_part() -> None:
    slow = made({"AB": [1 - 0.018 * layer for layer in range(25)]})
    assert slow.cosines[-1, 0, 1] < 0.6
    assert not meaning_title(slow).startswith("No layer")


def test_one_layer_alone_has_no_place_of_parting() -> None:
    assert meaning_title(made({"AB": [0.5]})) == "Cosine at every layer"


# What was typed

# What Streamlit's Markdown replaces in text even where every sign is escaped, since its plugins
# (icons, arrows, automatic links) read the text that is left. Tried in a browser with 1.67.
REPLACED = re.compile(
    r":material/\w+:|:material_\w+:|:streamlit:|<-|->|--|>=|<=|~=|(?i:https?://|www\.)|\w@\w"
)


def unescaped(text: str) -> str:
    """What Markdown makes of backslashes before punctuation."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def test_markdown_latex_and_html_are_shown_as_typed() -> None:
    assert quoted("<b>*$x_1$") == r"“\<b\>\*\$x\_1\$”"
    signs = r"\`*_{}[]<>()#+-.!|~$&"
    assert unescaped(escape(signs)).replace("\u2060", "") == signs
    for sign in signs:
        assert escape(sign).replace("\u2060", "") == "\\" + sign


@given(st.text(alphabet=st.characters(exclude_characters="\u2060", exclude_categories=["Cs"])))
@settings(deadline=None)
def test_escaping_loses_nothing(text: str) -> None:
    assert unescaped(escape(text)).replace("\u2060", "") == text


@pytest.mark.parametrize(
    "typed",
    [
        ":material/home:",
        ":material_home:",
        ":streamlit:",
        "a -> b",
        "a <- b",
        "a <-> b",
        "1 -- 2",
        "a >= b",
        "a <= b",
        "a ~= b",
        "http://evil.example/x",
        "HTTPS://evil.example/x",
        "www.evil.example",
        "Www.evil.example",
        "me@evil.example",
    ],
)
def test_what_streamlit_would_draw_as_icon_arrow_or_link_stays_text(typed: str) -> None:
    assert not REPLACED.search(unescaped(quoted(typed)))


@pytest.mark.parametrize("role", ["sentence", "reference"])
def test_a_users_word_is_escaped_wherever_it_is_said(role: str) -> None:
    word = "<b>*$x_1$"
    comparison = (
        made({"AB": [1.0, 0.8]}, sentences=(word, word))
        if role == "sentence"
        else made({"AB": [1.0, 0.8], "A0": [0.3, 0.5], "B0": [0.3, 0.2]}, references=(word,))
    )
    for layer in (0, 1):
        said = " ".join(meaning_in_context(comparison, layer, no_band))
        assert r"\<b\>\*\$x\_1\$" in said.replace("\u2060", "")
        assert "<b>" not in said
        assert "$x" not in said.replace(r"\$x", "")


def test_a_long_word_is_cut_and_a_short_one_is_not() -> None:
    assert quoted("x" * 24) == f"“{'x' * 24}”"
    assert quoted("x" * 25) == f"“{'x' * 23}…”"
    assert quoted("two\n words\t") == "“two words”"
    long = made({"AB": [1.0, 0.8]}, sentences=("y" * 5000, "z" * 5000))
    assert len(" ".join(meaning_in_context(long, 1, no_band))) < 250


def test_the_title_holds_no_typed_text() -> None:
    rude = made({"AB": [1.0, 0.5]}, sentences=("<b>", "$x$"))
    assert meaning_title(rude) == "A and B part most at layer 1"


# Any comparison


def symmetric(cosines: np.ndarray) -> np.ndarray:
    """The same with the upper half mirrored and ones on the diagonal."""
    upper = np.triu(cosines, 1)
    return upper + np.swapaxes(upper, 1, 2) + np.eye(cosines.shape[-1])


@st.composite
def comparisons(draw: st.DrawFn) -> Comparison:
    """Random cosines; some so coarse that there are ties, some hardly different."""
    n_sentences = draw(st.integers(1, 8))
    n_references = draw(st.integers(0 if n_sentences > 1 else 1, 8))
    n_layers = draw(st.integers(1, 14))
    n = n_sentences + n_references
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([1.0, 0.3, 0.01, 0.0]))
    step = draw(st.sampled_from([None, 0.005, 0.1, 0.5]))
    cosines = 0.5 + spread * random.uniform(-1, 0.5, (n_layers, n, n))
    if step is not None:
        cosines = np.round(cosines / step) * step
    if draw(st.booleans()):
        cosines[0] = 1.0
    return comparison_of(
        symmetric(cosines),
        [f"own{i}" for i in range(n_sentences)],
        [f"ref{i}" for i in range(n_references)],
    )


@pytest.mark.slow
@given(comparisons(), st.data())
@settings(max_examples=2000)
def test_every_reading_is_true(comparison: Comparison, data: st.DataObject) -> None:
    layer = data.draw(st.sampled_from(comparison.layers))
    n_layers = len(comparison.layers)
    band = data.draw(st.sampled_from([no_band, band_of(0.0, 0.1, 0.2, n_layers)]))
    said = meaning_in_context(comparison, layer, band)
    assert 1 <= len(said) <= 3
    for sentence in said:
        assert sentence.endswith(".")
        check_numbers(comparison, layer, sentence)
        check_order(comparison, layer, sentence)
        check_extremes(comparison, layer, sentence)
        check_neither(comparison, layer, sentence, band(Pair(0, 1)))
        check_band(comparison, layer, sentence, band(Pair(0, 1)))


def check_numbers(comparison: Comparison, layer: int, sentence: str) -> None:
    """Every bold number is a cosine of two different items here, or at layer 0 where it says so."""
    n = len(comparison.items)
    rows = {0, layer} if " start " in sentence else {layer}
    upper = np.triu_indices(n, 1)
    shown = {two_decimals(value) for row in rows for value in comparison.cosines[row][upper]}
    assert set(BOLD.findall(sentence)) <= shown
    assert BOLD.findall(sentence)


def two_decimals(value: float) -> str:
    return f"{value:.2f}".replace("-0.00", "0.00")


def check_order(comparison: Comparison, layer: int, sentence: str) -> None:
    assert ("is closer" in sentence) == (CLOSER.match(sentence) is not None)
    match = CLOSER.match(sentence)
    if match is None:
        return
    names = [item.word for item in comparison.items]
    near, far, ref = (names.index(match[part]) for part in ("near", "far", "ref"))
    along = comparison.cosines[:, [near, far], ref]
    assert along[layer, 0] - along[layer, 1] >= NOISE
    assert match["high"] != match["low"]
    assert [two_decimals(value) for value in along[layer]] == [match["high"], match["low"]]
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    assert along[layer, 0] == comparison.cosines[layer, own, ref].max()
    assert along[layer, 1] == comparison.cosines[layer, own, ref].min()
    check_layers(along[:, 0] - along[:, 1] >= NOISE, layer, match["rest"])


def check_layers(ahead: np.ndarray, layer: int, rest: str) -> None:
    assert ahead[layer]
    runs = re.findall(r"(\d+)(?: to (\d+))?", rest)
    numbers = [n for a, b in runs for n in range(int(a), int(b or a) + 1)]
    if "from" in rest:
        assert len(numbers) == 1
        assert 0 < numbers[0] <= layer
        assert ahead[numbers[0] :].all()
    elif "every layer" in rest:
        assert ahead.all()
    elif "but not at" in rest:
        assert set(np.flatnonzero(~ahead)) <= set(numbers)
        assert layer not in numbers
    else:
        assert rest == ""


def check_extremes(comparison: Comparison, layer: int, sentence: str) -> None:
    names = [item.word for item in comparison.items]
    pairs = comparison.pairs("sentences")
    values = np.array([comparison.cosines[layer, p.first, p.second] for p in pairs])
    match = MOST.search(sentence)
    if match is not None:
        a, b, highest, c, d, lowest = match.groups()
        assert comparison.cosines[layer, names.index(a), names.index(b)] == values.max()
        assert comparison.cosines[layer, names.index(c), names.index(d)] == values.min()
        assert (highest, lowest) == (two_decimals(values.max()), two_decimals(values.min()))
        assert highest != lowest
        assert np.ptp(values) >= NOISE
    if "all pairs" in sentence:
        assert np.ptp(values) < NOISE or two_decimals(values.max()) == two_decimals(values.min())
    if "equally close" in sentence:
        ref = names.index(re.findall(r"“(\w+)”", sentence)[0])
        own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
        assert np.ptp(comparison.cosines[layer, own, ref]) < NOISE + 0.01


def check_neither(comparison: Comparison, layer: int, sentence: str, band: Band | None) -> None:
    """A reference is close to none only where random pairs are as close to all."""
    names = [item.word for item in comparison.items]
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    found = re.match(r"“(ref\d+)” is (.*)", sentence)
    if found is None or len(own) < 2:
        return
    values = comparison.cosines[layer, own, names.index(found[1])]
    inside = band is not None and bool(
        ((values <= band.high[layer]) | (np.abs(values - band.mean[layer]) < 0.01)).all()
    )
    outside = band is None or bool((values > band.high[layer] + 0.01).any())
    if "close to neither" in sentence or "close to none" in sentence:
        assert inside
    assert outside or not inside or "is closer" not in sentence


def check_band(comparison: Comparison, layer: int, sentence: str, band: Band | None) -> None:
    if band is None:
        assert "random" not in sentence
        return
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    names = [item.word for item in comparison.items]
    end = re.search(
        r", (more alike than|as alike as|less alike than) .*\(average (\S+)\)\.", sentence
    )
    if end is None:
        return
    first, second = (names.index(name) for name in re.findall(r"“(\w+)”", sentence)[:2])
    assert len(own) <= 2
    value, mean = comparison.cosines[layer, first, second], band.mean[layer]
    assert end[2] == two_decimals(mean)
    if end[1] == "more alike than":
        assert value > band.high[layer]
        assert two_decimals(value) != end[2]
    elif end[1] == "less alike than":
        assert value < band.low[layer]
        assert two_decimals(value) != end[2]
    else:
        printed_alike = two_decimals(value) == end[2]
        assert printed_alike or band.low[layer] <= value <= band.high[layer]


@given(comparisons())
@settings(max_examples=500)
def test_every_title_is_true(comparison: Comparison) -> None:
    title = meaning_title(comparison)
    along = {
        f"{LETTERS[p.first]} and {LETTERS[p.second]}": comparison.along(p).astype(float)
        for p in comparison.pairs("sentences")
    }
    falls = {names: values[0] - values.min() for names, values in along.items()}
    match = re.fullmatch(r"(\w and \w) part (?:most at layer|between layers 0 and) (\d+)", title)
    if match is not None:
        values, layer = along[match[1]], int(match[2])
        others = [fall for names, fall in falls.items() if names != match[1]]
        assert falls[match[1]] >= max([NOISE, *(fall + NOISE for fall in others)]) - 1e-6
        if "most" in title:
            steps = np.sort(-np.diff(values))
            assert -np.diff(values)[layer - 1] == steps[-1]
            assert len(steps) == 1 or steps[-1] - steps[-2] >= NOISE - 1e-6
        else:
            assert values[layer] == values.min()
    elif title.startswith("Cosines fall by up to "):
        said = float(re.findall(r"\d\.\d\d", title)[0])
        assert said == pytest.approx(max(falls.values()), abs=0.0051)
    elif title == "Cosine at every layer":
        assert not falls or len(comparison.layers) == 1
    else:
        assert max(falls.values()) < NOISE + 1e-6
        starts = [values[0] for values in along.values()]
        assert (min(starts) < 0.95) == (title == "These words differ from layer 0 on")


def test_words_that_differ_from_the_start_are_not_said_to_stay_together() -> None:
    assert meaning_title(made({"AB": [0.1, 0.1, 0.1]})) == "These words differ from layer 0 on"
    assert meaning_title(made({"AB": [1.0, 1.0, 0.99]})) == "No layer pulls these words apart"


# Within noise, and kinds of random pairs


def test_a_reference_that_is_close_to_neither_is_not_closer_to_one() -> None:
    """-0.02 and -0.04 are both what random pairs get."""
    far = made({"AB": [0.9], "A0": [-0.02], "B0": [-0.04]}, references=("snake",))
    said = meaning_in_context(far, 0, band_of(-0.1, 0.0, 0.1, 1))[1]
    assert said == (
        "“snake” is close to neither (**-0.02** and **-0.04**): no closer than random pairs of "
        "words often are."
    )


def test_a_difference_within_noise_is_no_order() -> None:
    near = made({"AB": [0.9], "A0": [0.364], "B0": [0.351]}, references=("snake",))
    said = meaning_in_context(near, 0, no_band)[1]
    assert said == "“snake” is about equally close to both (**0.36** and **0.35**)."


def test_each_pair_is_held_against_its_own_random_pairs() -> None:
    def band(pair: Pair) -> Band | None:
        ends = {1: (0.0, 0.1, 0.2), 2: (0.5, 0.6, 0.7)}.get(pair.second)
        return None if ends is None else Band(*(np.array([end], np.float32) for end in ends))

    one = made({"A0": [0.3], "A1": [0.4]}, sentences=("python",), references=("snake", "serpent"))
    said = meaning_in_context(one, 0, band)
    assert ["more alike" in sentence for sentence in said] == [True, False]
    assert ["less alike" in sentence for sentence in said] == [False, True]


def test_words_in_another_script_are_held_against_nothing() -> None:
    pair = made({"AB": [1.0, 0.9]}, sentences=("שלום", "سلام"))
    (said,) = meaning_in_context(pair, 1, no_band)
    assert "random" not in said
    assert against(0.9, None, 1) == "."


def test_equal_vectors_need_no_yardstick() -> None:
    (said,) = meaning_in_context(made({"AB": [1.0, 0.8]}), 0, band_of(-0.1, 0.05, 0.2, 2))
    assert "random" not in said
