from __future__ import annotations

import html
import json
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.figures.theme import (
    CATEGORICAL,
    DASHES,
    GROUND,
    INK,
    LIGHT,
    MUTED,
    NEUTRAL,
    SEQUENTIAL,
    SMALLEST,
    color_of,
    figure,
    heading,
    ink_on,
    plain,
    ramp_color,
    standalone,
    tint,
    values,
)
from contextlens.ui.state.view import MAX_SENTENCES

ROOT = Path(__file__).parents[2]
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442")
texts = st.text(alphabet=st.characters() | st.sampled_from("<>&;%{}\"' \n"))


def test_the_palette_is_okabe_and_itos_in_our_order() -> None:
    assert CATEGORICAL[: len(OKABE_ITO)] == OKABE_ITO
    assert len(set(CATEGORICAL)) == len(CATEGORICAL)


def test_each_sentence_of_a_view_has_a_colour_of_its_own_and_none_the_neutral_one() -> None:
    assert len({NEUTRAL, *map(color_of, range(MAX_SENTENCES))}) == MAX_SENTENCES + 1
    assert [color_of(i) for i in range(len(CATEGORICAL))] == list(CATEGORICAL)
    assert color_of(3 * len(CATEGORICAL) + 2) == CATEGORICAL[2]


def _config() -> dict[str, Any]:
    return tomllib.loads((ROOT / ".streamlit/config.toml").read_text(encoding="utf-8"))


def _contrast(one: str, other: str) -> float:
    """WCAG's contrast of two colours, from 1 to 21."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    levels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in levels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_streamlits_theme_has_the_same_colours() -> None:
    theme = _config()["theme"]
    assert len(CATEGORICAL) == 10  # fewer silently give plotly's own
    light, dark = theme["light"], theme["dark"]
    for ground in (light, dark):
        assert tuple(ground["chartCategoricalColors"][:9]) == CATEGORICAL[:9]
        muted = ground["chartCategoricalColors"][9]  # `MUTED` stands for it
        assert _contrast(muted, ground["backgroundColor"]) >= 4.5
    assert {name: light[name] for name in LIGHT} == {
        name: list(value) if isinstance(value, tuple) else value for name, value in LIGHT.items()
    }
    assert light["primaryColor"] == light["linkColor"] == light["blueColor"] == CATEGORICAL[0]
    assert dark["linkColor"] == dark["blueColor"] == CATEGORICAL[5]


def test_a_scale_gets_darker_and_its_darkest_colour_is_seen_on_a_dark_ground() -> None:
    themes = _config()["theme"]
    for n in (2, 5, 9):
        ramp = [ramp_color(place, n) for place in range(n)]
        on_light = [_contrast(color, themes["light"]["backgroundColor"]) for color in ramp]
        assert on_light == sorted(on_light)
        assert all(b / a > 1.1 for a, b in pairwise(on_light))
        assert _contrast(ramp[-1], themes["dark"]["backgroundColor"]) >= 3


@pytest.mark.parametrize("ground", ["light", "dark"])
def test_magnitudes_are_one_blue_from_the_ground_on_with_readable_numbers(ground: str) -> None:
    theme = _config()["theme"][ground]
    ramp, paper = theme["chartSequentialColors"], theme["backgroundColor"]
    contrasts = [_contrast(color, paper) for color in ramp]
    assert contrasts == sorted(contrasts)
    assert contrasts[0] < 1.2
    inks = {INK: theme["textColor"], GROUND: paper}
    for i, color in enumerate(ramp):
        assert _contrast(color, inks[ink_on(i / 9)]) >= 4.5
    assert [color for _, color in SEQUENTIAL] == [f"#0000{11 + i}" for i in range(10)]


def test_a_tint_is_the_colour_that_lets_through_the_ground() -> None:
    assert CATEGORICAL[1] == "#E69F00"
    assert tint(CATEGORICAL[1], 0.18) == "rgba(230,159,0,0.18)"


def test_dashes_tell_lines_of_one_color_apart() -> None:
    known = {"solid", "dot", "dash", "longdash", "dashdot", "longdashdot"}
    assert set(DASHES) <= known
    assert len(set(DASHES)) == len(DASHES) >= 5


def test_what_was_typed_is_shown_and_has_no_effect() -> None:
    assert plain("<b>bold</b> & %{y} {z}") == "&lt;b&gt;bold&lt;/b&gt; &amp; %{y} {z}"
    assert plain("&lt;b&gt;") == "&amp;lt;b&amp;gt;"
    assert plain("two\nlines\t and  spaces ") == "two lines and spaces"
    assert plain("") == ""
    assert plain("x" * 24) == "x" * 24
    assert plain("x" * 25) == "x" * 23 + "…"
    assert plain("&" * 30, 4) == "&amp;&amp;&amp;…"  # cut before it is escaped


@given(texts, st.integers(1, 60))
@settings(deadline=None)
def test_labels_are_one_short_line_without_tags(text: str, longest: int) -> None:
    label = plain(text, longest)
    assert not set(label) & set("<>\n\r\t")
    shown = html.unescape(label).strip("\u2068\u2069")
    flat = " ".join(text.split())
    if not any(sign in flat for sign in ("&", "\x00", "\u2068", "\u2069")):
        assert len(shown) <= longest
        assert shown == flat or (shown.endswith("…") and flat.startswith(shown[:-1]))


def test_values_are_rounded_python_floats() -> None:
    array = np.array([0.1234567, -1.0, 1e-9], np.float32)
    assert values(array) == [0.12346, -1.0, 0.0]
    assert all(type(value) is float for value in values(array))
    assert values(np.eye(2, dtype=np.float32)) == [[1.0, 0.0], [0.0, 1.0]]
    assert json.loads(json.dumps(values(array))) == values(array)


def test_a_figure_has_its_finding_as_title_and_leaves_colors_to_the_page() -> None:
    built = figure([{"type": "scatter", "y": [1]}], {}, title="A & B part", height=300)
    layout = built.to_plotly_json()["layout"]
    assert layout["title"]["text"] == "A &amp; B part"
    assert layout["height"] == 300
    assert layout["showlegend"] is False
    assert not {"paper_bgcolor", "plot_bgcolor", "colorway"} & set(layout)
    assert layout["font"] == {"size": SMALLEST, "color": MUTED}
    own = figure([], {"margin": {"l": 1}, "showlegend": True}, title="", height=300).layout
    assert (own.margin.l, own.margin.t) == (1, layout["margin"]["t"])  # the others keep their room
    assert own.showlegend is True


def test_every_axis_bar_and_legend_is_written_large_enough() -> None:
    scatter = {"type": "scatter", "y": [1], "marker": {"color": [1], "colorbar": {}}}
    bar = {"title": {"text": "cosine"}, "tickfont": {"size": 20}}
    cells = {"texttemplate": "%{z}", "textfont": {"color": "#ffffff"}}
    heatmap = {"type": "heatmap", "z": [[1]], "xaxis": "x2", "colorbar": bar, **cells}
    built = figure(
        [scatter, heatmap], {"xaxis2": {"title": {"text": "layer"}}}, title="", height=90
    )
    layout = built.layout
    for axis in (layout.xaxis, layout.yaxis, layout.xaxis2, built.data[0].marker.colorbar):
        assert axis.tickfont.size == axis.title.font.size == SMALLEST
    assert layout.xaxis2.title.text == "layer"
    assert layout.legend.font.size == layout.legend.title.font.size == SMALLEST
    assert layout.hoverlabel.font.size == built.data[1].textfont.size == SMALLEST
    assert built.data[1].textfont.color == "#ffffff"
    assert built.data[1].colorbar.tickfont.size == 20  # what a figure says itself stays
    assert built.data[1].colorbar.title.font.size == SMALLEST
    beside = figure([{"type": "bar", "textposition": "outside"}], {}, title="", height=90)
    assert beside.data[0].textfont.color == INK
    assert "xaxis" not in figure([{"type": "treemap"}], {}, title="", height=90).to_dict()["layout"]


def test_a_mistyped_property_is_an_error() -> None:
    with pytest.raises(ValueError, match="colour"):
        figure([{"type": "scatter", "colour": "red"}], {}, title="", height=300)


def test_the_neutral_grey_can_be_seen_on_white_and_on_black() -> None:
    level = int(NEUTRAL[1:3], 16) / 255
    linear = ((level + 0.055) / 1.055) ** 2.4
    assert 1.05 / (linear + 0.05) >= 3
    assert (linear + 0.05) / 0.05 >= 3


def test_a_title_is_broken_into_lines_where_it_is_narrow() -> None:
    title = "word: 90% of nearest sentences agree  (chance 10%) & <b>more</b>"
    whole = "word: 90% of nearest sentences agree (chance 10%) &amp; &lt;b&gt;more&lt;/b&gt;"
    assert heading(title) == whole
    lines = heading(title, narrow=True).split("<br>")
    assert len(lines) == 2
    assert " ".join(lines) == whole
    assert heading("") == heading("", narrow=True) == ""
    assert heading("x" * 90) == "x" * 79 + "…"
    assert figure([], {}, title=title, height=300, narrow=True).layout.title.text.count("<br>") == 1


def test_a_bar_beside_a_picture_is_as_far_away_at_any_width_and_one_below_stays_in_its_middle() -> (
    None
):
    cells = {"type": "heatmap", "z": [[0.0, 1.0]]}
    traces = [{**cells, "colorbar": {}}, {**cells, "colorbar": {"orientation": "h", "y": 0}}]
    upright, below = figure(traces, {}, title="", height=300).to_plotly_json()["data"]
    assert upright["colorbar"]["x"] == 1
    assert "x" not in below["colorbar"]


# Outside of Streamlit


def test_a_standalone_figure_has_the_light_theme_s_colours() -> None:
    light = _config()["theme"]["light"]
    trace = {
        "type": "heatmap",
        "z": [[0.0, 1.0]],
        "x": ["#000037", '<b style="color:#000037">'],
        "colorscale": SEQUENTIAL,
    }
    label = f'<span style="color:{INK}">—</span> #000037'
    notes = [{"text": label, "font": {"color": color}} for color in (INK, GROUND, MUTED)]
    page = figure([trace], {"annotations": notes}, title="A #000037", height=300)
    page.layout.template = {"layout": {"colorway": ["#000001"]}}
    before = page.to_json()
    drawn = standalone(page, subtitle=["<i>A</i>", "B"])
    assert page.to_json() == before
    colors = [light["textColor"], light["backgroundColor"], light["chartCategoricalColors"][9]]
    assert [note.font.color for note in drawn.layout.annotations] == colors
    scale = [color for _, color in drawn.data[0].colorscale]
    assert scale == light["chartSequentialColors"]
    typed = [*drawn.data[0].x, drawn.layout.title.text]  # a typed text is no placeholder
    assert typed == [*trace["x"], "A #000037"]
    own = f'<span style="color:{light["textColor"]}">—</span> #000037'
    assert drawn.layout.annotations[0].text == own
    template = drawn.layout.template.layout
    assert _contrast(template.font.color, template.paper_bgcolor) >= 7
    assert list(template.colorway) == light["chartCategoricalColors"]
    diverging = [color for _, color in template.colorscale.diverging]
    assert diverging == light["chartDivergingColors"]
    assert drawn.layout.title.subtitle.text == "&lt;i&gt;A&lt;/i&gt;<br>B"
    assert drawn.layout.height - 300 == drawn.layout.margin.t - 40 == 40
