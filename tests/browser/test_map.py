"""The map as its readers use it: looking, playing, clicking, drawing around, uploading, sharing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import expect

from contextlens.content.language import say
from contextlens.core.registry import BUNDLED_ID
from contextlens.ui.state.address import encode
from contextlens.ui.state.view import DEFAULT, Value, ViewState
from tests.browser.screens import DESK, OVER_THE_TITLE, PHONE, WIDER_THAN_ITSELF, box

if TYPE_CHECKING:
    from tests.browser.visit import Visit

pytestmark = pytest.mark.browser

MAP_SECONDS = 600
"""The first map compiles, and other tests may use the machine."""
PICTURE = ".st-key-map_chart .js-plotly-plot"
RING = say("senses.strays.ring")
"""The name of the rings around points that stand in the wrong group; they are no points."""
PLACES = f"""() => document.querySelector('{PICTURE}')._fullData
    .filter(trace => trace.mode === 'markers' && trace.name !== '{RING}')
    .map(trace => [trace.name, Array.from(trace.x), Array.from(trace.y)])"""
ON_SCREEN = f"""() => {{
  const plot = document.querySelector('{PICTURE}');
  const {{xaxis, yaxis, _size}} = plot._fullLayout;
  const frame = plot.getBoundingClientRect();
  return plot._fullData.filter(trace =>
    trace.mode === 'markers' && trace.name !== '{RING}'
  ).flatMap(trace => Array.from(trace.x).map((x, i) => [
      frame.x + xaxis._offset + xaxis.l2p(x), frame.y + yaxis._offset + yaxis.l2p(trace.y[i]),
    ]));
}}"""
POINTS = f"""() => {{
  const {{_fullData, data}} = document.querySelector('{PICTURE}');
  return _fullData.filter(trace => 'hovertext' in data[trace.index])
    .reduce((n, trace) => n + trace.x.length, 0);
}}"""
"""The number of points; some have a mark of another trace around them."""
RINGS = f"""() => document.querySelector('{PICTURE}')._fullData
    .find(trace => trace.name === '{RING}').x.length"""
SIZES = f"""() => [...document.querySelectorAll('{PICTURE} .scatterlayer .trace')]
    .flatMap((trace, i, all) => i && i < all.length - 1 ? [] : [trace.querySelector('.point')])
    .map(point => point.getBBox().width)"""
"""The width in pixels of a dot, and of a ring."""
FRAME = f"""() => {{
  const {{w, h}} = document.querySelector('{PICTURE}')._fullLayout._size;
  return [w, h];
}}"""
MOBILE = {**PHONE, "user_agent": "Mozilla/5.0 (Linux; Android 14) Chrome/140 Mobile Safari/537.36"}
HOSTILE = "<img src=x onerror=alert(1)><b>good</b>"


def address_of(**controls: Value) -> str:
    view: ViewState = DEFAULT
    for name, value in controls.items():
        view = view.with_control("map", name, value, None)  # type: ignore[arg-type]
    parameter = encode(view)
    return "/map?" + urlencode({"s": parameter}) if parameter else "/map"


def drawn(here: Visit) -> None:
    """Wait until a map is there and no other is coming."""
    here.page.wait_for_function(
        f"() => document.querySelector('{PICTURE}') && !document.querySelector("
        "'.st-key-waiting_map_progress [data-testid=stProgress]')",
        timeout=MAP_SECONDS * 1000,
    )
    here.settle()


@pytest.fixture
def on_map(visit: Callable[..., Visit]) -> Callable[..., Visit]:
    """Open the page and wait for its map."""

    def open_(path: str = "/map", **options: object) -> Visit:
        here = visit(path, **options)
        drawn(here)
        return here

    return open_


def spots(here: Visit) -> np.ndarray:
    """(n, 2) pixels: the points' places on the screen."""
    return np.array(here.page.evaluate(ON_SCREEN))


def lasso(here: Visit, around: np.ndarray, *, air: float = 14) -> None:
    """Draw a box around some points, a little away from them."""
    (x0, y0), (x1, y1) = around.min(axis=0) - air, around.max(axis=0) + air
    here.page.locator(f"{PICTURE} [data-title='Lasso Select']").click()
    mouse = here.page.mouse
    with here.rerun():
        mouse.move(x0, y0)
        mouse.down()
        for x, y in ((x1, y0), (x1, y1), (x0, y1), (x0, y0)):
            mouse.move(x, y, steps=6)
        mouse.up()


def test_a_desk_s_first_screen_its_download_its_play_and_its_slider(
    on_map: Callable[..., Visit],
) -> None:
    here = on_map(**DESK)
    expect(here.main.locator(".said:visible")).to_have_count(1)  # the headline has the one claim
    assert "30 of 32" in here.reading
    alt = here.page.locator(".st-key-map_chart [role=figure]").get_attribute("aria-label")
    assert "The model sorts 30 of 32 right (guessing: 16)." in alt
    assert here.page.evaluate(RINGS) == 2  # around those that are sorted wrong
    assert_fits(here)
    plot = here.page.evaluate(FRAME)
    assert plot[0] > 0.6 * box(here.figure)["width"]  # the names of the senses are beside it
    the_download_holds_the_numbers_on_the_map(here)
    play_moves_the_points_through_the_layers(here)
    the_two_pythons_part_on_the_way_and_the_slider_shows_it(here)


def test_dots_grow_with_the_map_and_keep_their_size_while_it_plays(
    on_map: Callable[..., Visit],
) -> None:
    here = on_map(**DESK)
    at_desk, ring_at_desk = here.page.evaluate(SIZES)
    assert at_desk > 12.5  # 32 points
    here.page.set_viewport_size({"width": 1920, "height": 1080})
    here.settle()
    wide, ring_wide = here.page.evaluate(SIZES)
    assert wide > 1.3 * at_desk
    assert wide / at_desk == pytest.approx(ring_wide / ring_at_desk, rel=0.01)
    play_moves_the_points_through_the_layers(here)
    assert here.page.evaluate(SIZES) == [wide, ring_wide]
    here.page.set_viewport_size(DESK["viewport"])
    here.settle()
    assert here.page.evaluate(SIZES) == pytest.approx([at_desk, ring_at_desk])


def test_it_fits_a_dark_phone(on_map: Callable[..., Visit]) -> None:
    assert_fits(on_map(color_scheme="dark", **MOBILE))


def assert_fits(here: Visit) -> None:
    size = here.page.viewport_size
    assert here.page.evaluate(WIDER_THAN_ITSELF) == []
    assert here.page.evaluate(OVER_THE_TITLE) == []
    assert box(here.figure)["x"] >= 0
    assert box(here.figure)["right"] <= size["width"]
    assert here.main.get_by_test_id("stAlert").count() == 0
    bar = here.main.locator(".st-key-controls_texts")
    for widget in bar.locator(":scope > *:visible").all():
        assert box(widget)["right"] <= box(bar)["right"] + 1
    headline = box(here.main.locator(".st-key-reading"))
    assert headline["y"] < size["height"] / 3
    assert headline["bottom"] <= box(here.figure)["y"] < 0.4 * size["height"]
    assert box(here.main.locator(".layer-bar"))["bottom"] <= size["height"]


def the_download_holds_the_numbers_on_the_map(here: Visit) -> None:
    with np.load(io.BytesIO(here.download("NPZ"))) as file:
        arrays: Mapping[str, np.ndarray] = dict(file)
    shown = np.array(
        [(x, y) for _, xs, ys in here.page.evaluate(PLACES) for x, y in zip(xs, ys, strict=True)]
    )
    assert arrays["all_coordinates"].shape == (7, 32, 2)
    np.testing.assert_allclose(
        np.sort(shown, axis=0), np.sort(arrays["coordinates"], axis=0), atol=1e-5
    )


def play_moves_the_points_through_the_layers(here: Visit) -> None:
    before, address = here.page.evaluate(PLACES), here.page.url
    here.main.get_by_role("button", name="Play all layers").click()
    expect(here.main.get_by_role("slider")).to_have_value("2")
    assert here.page.evaluate(PLACES) != before
    here.main.get_by_role("button", name="Play all layers").wait_for()  # it has reached the end
    assert here.page.evaluate(PLACES) == before
    assert (here.layer, here.page.url) == (6, address)


def the_two_pythons_part_on_the_way_and_the_slider_shows_it(here: Visit) -> None:
    last = gap(here)
    here.to_layer(1)
    assert here.layer == 1
    assert last > 2 * gap(here)


def gap(here: Visit) -> float:
    """The distance between the senses' middles, in units of their spread."""
    groups = {name: np.array([x, y]).T for name, x, y in here.page.evaluate(PLACES)}
    one, other = groups["animal"], groups["language"]
    spread = np.mean([g.std(axis=0).mean() for g in (one, other)])
    return float(np.linalg.norm(np.median(one, axis=0) - np.median(other, axis=0)) / spread)


def rows_of_reviews() -> list[tuple[str, str]]:
    good = ["a warm and funny film", "the cast shines", "great songs", "I laughed a lot"]
    bad = ["a dull and empty film", "the plot drags", "bad songs", "I fell asleep"]
    ends = ["", " tonight", " again", " from start to end", " , and so did my aunt"]
    kinds = ((good, "liked"), (bad, "disliked"))
    return [(start + end, label) for starts, label in kinds for start in starts for end in ends]


def to_csv(rows: list[tuple[str, str]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["review", "verdict"])
    writer.writerows(rows)
    return out.getvalue().encode()


def upload(here: Visit, name: str, content: bytes) -> None:
    with here.rerun():
        here.main.locator(".st-key-map_own_file input[type=file]").set_input_files(
            {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        )


def test_a_file_is_mapped_drawn_around_and_the_selection_downloaded(
    visit: Callable[..., Visit],
) -> None:
    rows = [*rows_of_reviews(), (HOSTILE, "liked")]
    here = visit(address_of(source="file"))
    upload(here, "reviews.csv", to_csv(rows))
    expect(here.main.get_by_text("41 rows").first).to_be_visible()  # in doubt: it has tags
    own_export = here.main.locator('[aria-label^="Download as CSV"]').first
    expect(own_export).to_be_attached()  # it writes formulas as they are
    expect(own_export).to_be_hidden()
    here.click("Use these texts")
    drawn(here)
    assert spots(here).shape == (len(rows), 2)
    around = spots(here)
    chosen = around[np.argsort(around[:, 0])[:16]]
    lasso(here, chosen)
    expect(here.main.get_by_text("points are selected", exact=False)).to_be_visible()
    with here.page.expect_download() as download:
        here.main.get_by_role("button", name="Download CSV").click()
    text = download.value.path().read_text(encoding="utf-8-sig")
    table = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    passport = dict(line[2:].split(": ", 1) for line in text.splitlines() if line.startswith("#"))
    assert json.loads(passport["model"]) == BUNDLED_ID
    assert len(table) >= 16
    assert {row["sentence"] for row in table} <= {text for text, _ in rows}
    assert all((row["sentence"], row["verdict"]) in rows for row in table)
    assert here.page.locator("img[src=x]").count() == 0
    selected = """() => { const { _fullData, layout } =
        document.querySelector('.st-key-map_chart .js-plotly-plot');
        return _fullData.some(trace => trace.selectedpoints) || !!layout.selections?.length; }"""
    assert here.page.evaluate(selected)
    here.click("Clear selection")
    drawn(here)
    here.page.wait_for_function(f"!({selected})()")


def test_a_click_while_a_file_is_read_loses_no_file(visit: Callable[..., Visit]) -> None:
    here = visit(address_of(source="file"))
    rows = [
        (f"{review} <b>{i}</b>", label) for i in range(500) for review, label in rows_of_reviews()
    ]
    here.main.locator(".st-key-map_own_file input[type=file]").set_input_files(
        {"name": "reviews.csv", "mimeType": "text/csv", "buffer": to_csv(rows)}
    )
    here.main.get_by_text("reviews.csv").first.wait_for()
    here.main.get_by_role("button", name="Use the pasted texts").click()
    expect(here.main.get_by_text("20,000 rows").first).to_be_visible(timeout=60_000)


def test_a_phone_shows_the_titles_of_a_file_s_vectors(visit: Callable[..., Visit]) -> None:
    here = visit(address_of(source="file", method="pca"), **PHONE)
    vectors = np.random.default_rng(0).normal(size=(40, 8)).tolist()
    rows = [{"review": review, "verdict": label, "sentence embeddings": own}
            for (review, label), own in zip(rows_of_reviews(), vectors, strict=True)]  # fmt: skip
    upload(here, "reviews.jsonl", "\n".join(map(json.dumps, rows)).encode())
    here.click("Use these texts")
    menu = here.main.locator('[class*="st-key-map_vectors"]').get_by_role("combobox")
    expect(menu).to_have_value("sentence embeddings")
    assert menu.evaluate("node => node.scrollWidth <= node.clientWidth && node.clientWidth > 200")
    assert not here.page.evaluate(WIDER_THAN_ITSELF)


def long_texts(name: str, n: int) -> bytes:
    """Texts of about a hundred tokens each, of which some are read first."""
    kinds = ("warm", "dull", "loud", "slow", "bright")
    texts = (f"{name} {i}: " + f"the {kinds[i % 5]} film goes on and on " * 15 for i in range(n))
    return "\n".join(texts).encode()


def n_drawn(here: Visit) -> int:
    here.page.wait_for_function(f"() => document.querySelector('{PICTURE}')?._fullData")
    n: int = here.page.evaluate(POINTS)
    return n


@pytest.mark.timeout(2 * MAP_SECONDS)
def test_a_large_map_begins_with_some_texts_and_becomes_whole_unless_it_is_cancelled(
    visit: Callable[..., Visit],
) -> None:
    n = 1_040
    here = visit(address_of(source="file", method="pca"))
    so_far = here.main.get_by_text("The others join the map when they are read.")
    here.main.locator(".st-key-map_own_file input[type=file]").set_input_files(
        {"name": "films.txt", "mimeType": "text/plain", "buffer": long_texts("seen", n)}
    )
    so_far.wait_for(timeout=MAP_SECONDS * 1000)
    n_first = n_drawn(here)
    assert 500 <= n_first < n / 2
    expect(here.main.get_by_text(f"{n_first} of 1,040 texts so far, at layer 6.")).to_be_visible()
    so_far.wait_for(state="hidden", timeout=MAP_SECONDS * 1000)
    drawn(here)
    assert n_drawn(here) == n
    expect(here.main.get_by_role("slider")).to_be_visible()  # of the layers

    here.click("Add texts")
    here.main.locator(".st-key-map_own_file input[type=file]").set_input_files(
        {"name": "others.txt", "mimeType": "text/plain", "buffer": long_texts("other", n)}
    )
    so_far.wait_for(timeout=MAP_SECONDS * 1000)
    here.click("Cancel")
    only = here.main.get_by_text(f"These are {n_first} of 1,040 texts. The others were not read.")
    expect(only).to_be_visible()
    expect(here.main.get_by_role("button", name="Draw this map")).to_be_visible()
    assert n_drawn(here) == n_first, "what was drawn stays"


def test_what_is_selected_is_marked_beside_and_a_file_that_cannot_be_read_leaves_the_map(
    on_map: Callable[..., Visit],
) -> None:
    here = on_map(address_of(beside="layer", other_layer=1))
    what_is_selected_in_one_map_is_marked_in_the_other(here)
    here.follow("/map")
    drawn(here)
    a_file_that_cannot_be_read_leaves_the_map(here)


def what_is_selected_in_one_map_is_marked_in_the_other(here: Visit) -> None:
    here.page.wait_for_selector(".st-key-map_chart_other .js-plotly-plot")
    here.settle()
    for key in ("map_chart", "map_chart_other"):  # the tools do not cover the names of the colours
        chart = here.main.locator(f".st-key-{key}")
        assert box(chart.locator(".modebar"))["bottom"] <= box(chart.locator(".legend"))["y"] + 6
    around = spots(here)
    lasso(here, around[np.argsort(around[:, 0])[-6:]])
    marked = """() => document.querySelector('.st-key-map_chart_other .js-plotly-plot')._fullData
        .map(trace => (trace.selectedpoints || []).length).reduce((a, b) => a + b, 0)"""
    here.page.wait_for_function(f"({marked})() >= 6")


def a_file_that_cannot_be_read_leaves_the_map(here: Visit) -> None:
    here.click("Add texts")
    upload(here, "broken.parquet", b"PAR1 and nothing more")
    alert = here.main.get_by_test_id("stAlert").filter(has_text="Parquet")
    expect(alert.first).to_be_visible()
    assert spots(here).shape[0] == 32
    upload(here, "latin.csv", "satz;urteil\nschön;gut\nhässlich;schlecht\n".encode("latin-1"))
    expect(here.main.get_by_text("2 rows").first).to_be_visible()  # words, perhaps no texts
    here.click("Use these texts")
    drawn(here)
    here.page.wait_for_function(f"({ON_SCREEN})().length === 2", timeout=MAP_SECONDS * 1000)
    expect(here.main.get_by_text("PCA was drawn", exact=False)).to_be_visible()


def test_a_copied_link_shows_the_same_map_and_a_clicked_point_s_true_neighbours(
    on_map: Callable[..., Visit], visit: Callable[..., Visit]
) -> None:
    here = on_map(address_of(word="bank", method="pca", find="river"))
    expect(here.main.get_by_text("found", exact=False).first).to_be_visible()
    x, y = spots(here)[0]
    with here.rerun():
        here.page.mouse.click(x, y)
    panel = here.main.locator(".st-key-map_closer")
    expect(panel).to_contain_text("In the full space, nearest first")
    there = visit("/map?" + here.link().split("?", 1)[1])
    drawn(there)
    assert there.title == here.title
    assert there.page.evaluate(PLACES) == here.page.evaluate(PLACES)
    again = there.main.locator(".st-key-map_closer")
    for each in (panel, again):
        expect(each).to_contain_text("nearest first (✓ in both)")


def test_arrow_keys_on_the_list_move_the_ring_on_the_map(on_map: Callable[..., Visit]) -> None:
    here = on_map(address_of(find="python", method="pca"), **DESK)
    options = here.main.get_by_role("listbox", name="Points of the map").get_by_role("option")
    expect(options).to_have_count(20)
    ring = f"""() => document.querySelector('{PICTURE}')._fullData
        .filter(trace => trace.name === 'the point').map(trace => [trace.x[0], trace.y[0]])[0]"""
    with here.rerun():
        options.first.click()
    first = here.page.evaluate(ring)
    assert first is not None
    with here.rerun():
        here.page.keyboard.press("ArrowDown")
        here.page.keyboard.press("ArrowDown")
    here.page.wait_for_function(f"at => ({ring})().join() !== at.join()", arg=first)
    expect(options.nth(2)).to_be_focused()
    expect(options.nth(2)).to_have_attribute("aria-selected", "true")
    with here.rerun():
        here.page.keyboard.press("Enter")
    panel = here.main.locator(".st-key-map_closer")
    expect(panel).to_contain_text("In the full space, nearest first")
