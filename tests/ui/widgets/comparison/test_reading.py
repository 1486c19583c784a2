from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.analysis.baseline import Band
from components.analysis.similarity import Comparison, Item
from components.content.wording import escape, quoted
from components.ui.widgets.comparison.reading import meaning_in_context, meaning_title

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


def band_of(low: float, mean: float, high: float, n_layers: int) -> Band:
    return Band(*(np.full(n_layers, value, np.float32) for value in (low, mean, high)))


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
    assert meaning_in_context(story, 3, None) == [
        "“python” in A and “python” in B start equal at layer 0 and have a cosine of **0.78** "
        "at layer 3.",
        "“snake” is closer to “python” in A (**0.51**) than to “python” in B (**0.28**), "
        "at every layer from 1 on.",
        "“programming” is closer to “python” in B (**0.41**) than to “python” in A (**0.26**), "
        "at every layer from 1 on.",
    ]


def test_at_layer_0_the_story_has_not_begun(story: Comparison) -> None:
    said = meaning_in_context(story, 0, None)
    assert "(**1.00**)" in said[0]
    assert said[1].startswith("“snake” is equally close to ")
    assert said[2].startswith("“programming” is equally close to ")
    assert not any("closer" in sentence for sentence in said)


def test_sentences_are_compared_and_references_never(story: Comparison) -> None:
    """B's python is closer to snake than to programming at layers 1 and 2: no one says so."""
    for layer in story.layers:
        for sentence in meaning_in_context(story, layer, None):
            assert not ("snake" in sentence and "programming" in sentence)


def test_where_the_story_fails_the_reading_says_the_opposite() -> None:
    failing = made(
        {"AB": [1.0, 0.9], "A0": [0.34, 0.28], "B0": [0.34, 0.51]}, references=("snake",)
    )
    assert meaning_in_context(failing, 1, None)[1].startswith(
        "“snake” is closer to “python” in B (**0.51**) than to “python” in A (**0.28**)"
    )


def test_the_widest_difference_comes_first_and_two_references_are_enough() -> None:
    wide = {"AB": [0.5], "A0": [0.2], "B0": [0.3], "A1": [0.1], "B1": [0.9], "A2": [0.5]}
    said = meaning_in_context(made(wide, references=("one", "two", "three")), 0, None)
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
    said = meaning_in_context(made(values, references=("snake",)), layer, None)
    match = CLOSER.match(said[1])
    assert match is not None
    assert match["rest"] == rest


def test_rounding_noise_is_no_order() -> None:
    """The same vector from two batches differs in the last bits: at layer 0 nothing is closer."""
    noisy = made(
        {"AB": [1.0, 0.9, 0.9], "A0": [0.3400001, 0.53, 0.53], "B0": [0.34, 0.47, 0.47]},
        references=("snake",),
    )
    assert meaning_in_context(noisy, 0, None)[1].startswith("“snake” is equally close")
    assert meaning_in_context(noisy, 2, None)[1].endswith(" from 1 on.")


def test_what_is_called_equal_at_one_layer_is_not_called_closer_from_another() -> None:
    close = made(
        {"AB": [0.9, 0.9, 0.9], "A0": [0.342, 0.5, 0.5], "B0": [0.34, 0.4, 0.4]},
        references=("snake",),
    )
    here, later = (meaning_in_context(close, layer, None)[1] for layer in (0, 2))
    assert "equally close" in here
    assert not later.endswith(", at every layer.")


# The sentences' words among themselves


def test_an_equal_pair_is_called_equal_at_every_layer() -> None:
    same = made({"AB": [1.0, 1.0, 1.0]})
    for layer in same.layers:
        (said,) = meaning_in_context(same, layer, None)
        assert BOLD.findall(said) == ["1.00"]
        assert f"layer {layer}" in said
        assert "start" not in said


def test_nearly_one_is_not_called_the_same_vector() -> None:
    (said,) = meaning_in_context(made({"AB": [1.0, 0.9996]}), 1, None)
    assert "the same vector" not in said


def test_other_words_with_the_same_vector_are_not_called_the_same_word() -> None:
    """An uncased model reads "US" and "us" as one token; first sub-tokens agree more often."""
    (said,) = meaning_in_context(made({"AB": [1.0, 0.8]}, sentences=("US", "us")), 0, None)
    assert "same word" not in said


def test_a_pair_that_differs_from_the_start_is_said_so() -> None:
    (said,) = meaning_in_context(made({"AB": [0.34, 0.5]}, sentences=("good", "bad")), 1, None)
    assert said == (
        "“good” in A and “bad” in B start at **0.34** at layer 0 and have a cosine of **0.50** "
        "at layer 1."
    )
    (at_start,) = meaning_in_context(made({"AB": [0.34, 0.5]}), 0, None)
    assert BOLD.findall(at_start) == ["0.34"]
    assert "start" not in at_start


def test_of_several_pairs_the_highest_and_the_lowest_are_named() -> None:
    three = made({"AB": [0.9], "AC": [0.2], "BC": [0.5]}, sentences=("river", "money", "cash"))
    (said,) = meaning_in_context(three, 0, None)
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
    said = meaning_in_context(only, 1, None)
    assert BOLD.findall(said[0]) == ["1.00"]
    assert BOLD.findall(said[1]) == ["0.60", "0.20"]


def test_an_order_shows_in_the_numbers_beside_it() -> None:
    """ "closer to A (0.51) than to B (0.51)" reads as a mistake."""
    near = made({"AB": [0.9], "A0": [0.5149], "B0": [0.5051]}, references=("snake",))
    for sentence in meaning_in_context(near, 0, None):
        numbers = BOLD.findall(sentence)
        assert "closer" not in sentence or len(set(numbers)) == 2
    three = made({"AB": [0.5149], "AC": [0.5051], "BC": [0.51]}, sentences=["bank"] * 3)
    (said,) = meaning_in_context(three, 0, None)
    assert "least" not in said or len(set(BOLD.findall(said))) == 2


def test_a_tiny_negative_number_is_no_minus_zero() -> None:
    flat = made({"AB": [0.5, -0.001], "A0": [0.3, -0.004], "B0": [0.3, 0.2]}, references=("x",))
    said = " ".join(meaning_in_context(flat, 1, band_of(-0.1, -0.002, 0.1, 2)))
    assert "-0.00" not in said
    assert "0.00" in said


def test_a_centred_cosine_is_called_that() -> None:
    centred = made({"AB": [0.3, -0.4]}, centred=True)
    (said,) = meaning_in_context(centred, 0, None)
    assert "centred cosine" in said


# Against random pairs


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (0.61, "more alike than 95 of 100 random pairs"),
        (0.59, "no more alike than many random pairs"),
        (0.21, "no more alike than many random pairs"),
        (0.19, "less alike than 95 of 100 random pairs"),
    ],
)
@pytest.mark.parametrize("n_sentences", [2, 3])
def test_a_cosine_stands_above_in_or_below_the_band(
    value: float, place: str, n_sentences: int
) -> None:
    letters = LETTERS[:n_sentences]
    pairs = {a + b: [1.0, value] for a, b in combinations(letters, 2)}
    (said,) = meaning_in_context(
        made(pairs, sentences=["python"] * n_sentences), 1, band_of(0.2, 0.4, 0.6, 2)
    )
    assert place in said
    assert "0.40" in said


def test_the_bands_own_layer_counts() -> None:
    band = Band(*(np.array(row, np.float32) for row in ([0.0, 0.6], [0.1, 0.7], [0.2, 0.8])))
    pair = made({"AB": [0.5, 0.5]})
    assert "more alike" in meaning_in_context(pair, 0, band)[0]
    assert "less alike" in meaning_in_context(pair, 1, band)[0]
    assert "0.70" in meaning_in_context(pair, 1, band)[0]


def test_without_a_baseline_nothing_is_said_of_random_pairs(story: Comparison) -> None:
    for layer in story.layers:
        assert "random" not in " ".join(meaning_in_context(story, layer, None))


def test_of_several_pairs_the_average_stands_beside() -> None:
    three = made({"AB": [0.9], "AC": [0.2], "BC": [0.5]}, sentences=["bank"] * 3)
    (said,) = meaning_in_context(three, 0, band_of(0.0, 0.15, 0.3, 1))
    assert said.endswith("; random pairs average 0.15.")


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
        said = " ".join(meaning_in_context(comparison, layer, None))
        assert r"\<b\>\*\$x\_1\$" in said.replace("\u2060", "")
        assert "<b>" not in said
        assert "$x" not in said.replace(r"\$x", "")


def test_a_long_word_is_cut_and_a_short_one_is_not() -> None:
    assert quoted("x" * 24) == f"“{'x' * 24}”"
    assert quoted("x" * 25) == f"“{'x' * 23}…”"
    assert quoted("two\n words\t") == "“two words”"
    long = made({"AB": [1.0, 0.8]}, sentences=("y" * 5000, "z" * 5000))
    assert len(" ".join(meaning_in_context(long, 1, None))) < 250


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


@given(comparisons(), st.data())
@settings(deadline=None, max_examples=250)
def test_every_reading_is_true(comparison: Comparison, data: st.DataObject) -> None:
    layer = data.draw(st.sampled_from(comparison.layers))
    n_layers = len(comparison.layers)
    band = data.draw(st.sampled_from([None, band_of(0.0, 0.1, 0.2, n_layers)]))
    said = meaning_in_context(comparison, layer, band)
    assert 1 <= len(said) <= 3
    for sentence in said:
        assert sentence.endswith(".")
        check_numbers(comparison, layer, sentence)
        check_order(comparison, layer, sentence)
        check_extremes(comparison, layer, sentence)
        check_band(comparison, layer, sentence, band)


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
    assert ("closer" in sentence) == (CLOSER.match(sentence) is not None)
    match = CLOSER.match(sentence)
    if match is None:
        return
    names = [item.word for item in comparison.items]
    near, far, ref = (names.index(match[part]) for part in ("near", "far", "ref"))
    along = comparison.cosines[:, [near, far], ref]
    assert along[layer, 0] > along[layer, 1]
    assert [two_decimals(value) for value in along[layer]] == [match["high"], match["low"]]
    own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
    assert along[layer, 0] == comparison.cosines[layer, own, ref].max()
    assert along[layer, 1] == comparison.cosines[layer, own, ref].min()
    check_layers(along[:, 0] > along[:, 1], layer, match["rest"])


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
    if "all pairs" in sentence:
        assert np.ptp(values) < 0.011
    if "equally close" in sentence:
        ref = names.index(re.findall(r"“(\w+)”", sentence)[0])
        own = [i for i, item in enumerate(comparison.items) if item.role == "sentence"]
        assert np.ptp(comparison.cosines[layer, own, ref]) < 0.011


def check_band(comparison: Comparison, layer: int, sentence: str, band: Band | None) -> None:
    if band is None:
        assert "random" not in sentence
        return
    pairs = comparison.pairs("sentences")
    values = np.array([comparison.cosines[layer, p.first, p.second] for p in pairs])
    if "random" in sentence and ", more alike than" in sentence:
        assert values.max() > band.high[layer]
    if "less alike than" in sentence:
        assert values.max() < band.low[layer]
    if "no more alike than" in sentence:
        assert band.low[layer] - 0.01 <= values.max() <= band.high[layer] + 0.01
    if "random" in sentence:
        assert f"{band.mean[layer]:.2f}" in sentence


@given(comparisons())
@settings(deadline=None)
def test_every_title_is_true(comparison: Comparison) -> None:
    title = meaning_title(comparison)
    pairs = comparison.pairs("sentences")
    falls = {
        (LETTERS[p.first], LETTERS[p.second], layer): float(fall)
        for p in pairs
        for layer, fall in enumerate(-np.diff(comparison.along(p)), start=1)
    }
    match = re.fullmatch(r"(\w) and (\w) part most at layer (\d+)", title)
    if match is not None:
        assert falls[match[1], match[2], int(match[3])] == max(falls.values()) > 0
    elif title == "No layer pulls these words apart":
        assert max(falls.values()) < 0.03
    else:
        assert title == "Cosine at every layer" or falls


def test_words_that_differ_from_the_start_are_not_said_to_stay_together() -> None:
    assert meaning_title(made({"AB": [0.1, 0.1, 0.1]})) == "These words differ from layer 0 on"
    assert meaning_title(made({"AB": [1.0, 1.0, 0.99]})) == "No layer pulls these words apart"


def test_equal_vectors_need_no_yardstick() -> None:
    (said,) = meaning_in_context(made({"AB": [1.0, 0.8]}), 0, band_of(-0.1, 0.05, 0.2, 2))
    assert "random" not in said
