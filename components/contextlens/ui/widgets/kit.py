"""The parts that pages have in common: charts, readings, tables, closer looks, tabs, downloads.

A page provides only its content; this module decides how the parts look and behave.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import pandas as pd
import streamlit as st
from numpy.typing import NDArray
from plotly.graph_objects import Figure
from streamlit.delta_generator import DeltaGenerator
from streamlit.elements.lib.mutable_popover_container import PopoverContainer
from streamlit.elements.lib.mutable_tab_container import TabContainer

from contextlens.content.glossary import GLOSSARY, explained
from contextlens.content.language import Claim, say
from contextlens.content.language import table as table_of_words
from contextlens.core.schema import Passport
from contextlens.ui.page import errors, navigation, runs
from contextlens.ui.state import session
from contextlens.ui.state.controls import Choice
from contextlens.ui.state.sharing import address_of
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets import export, inputs
from contextlens.ui.widgets.component import component, css_class
from contextlens.ui.widgets.describing import Texts, describe

# --- Taking a chart away: as a file, into the report, as a notebook


@dataclass(frozen=True)
class ExportedView:
    """The words about a view in the report and in a notebook, beside its picture and claim.

    Attributes:
        reading: the CSS class of the reading with the claim.
        svg_title: the title that a drawing has; a chart's own is read from it.
        title: the page's title.
        link: the address of the view; None if it is too long for one.
        settings: pairs of a label and a value: the model, the texts, the page's choices.
        cells: the notebook's cells, see `export.notebook_cells`.
    """

    reading: str = ""
    svg_title: str = ""
    title: str = ""
    link: str | None = None
    settings: Sequence[tuple[str, str]] = ()
    cells: Sequence[tuple[str, str]] = ()


def picture_buttons(
    *,
    chart_key: str = "",
    svg: str = "",
    file_name: str,
    key: str,
    caption: str = "",
    exported: ExportedView = ExportedView(),
    for_report: bool = False,
) -> None:
    """Show the buttons "PNG" (2400 px wide), "SVG" (1200 px) and "HTML", or "Add to report" alone.

    The files have the claim and the passport in them; a chart's HTML also has plotly, and opens
    without a network. With cells, "Notebook" follows.

    Args:
        chart_key: The `key` of the `st.plotly_chart`, or of a container around it.
        svg: Instead of a chart, an SVG of at most 928 x 440 px that draws in `currentColor`.
        file_name: The file's name without its extension.
        key: The buttons' own key.
        caption: The passport, written in small type under the picture.
        exported: What the report and the notebook say beside the picture.
        for_report: True for the button "Add to report", which says how many views the report has.
    """
    data = {
        "formats": ["report"] if for_report else ["png", "svg", "html", "ipynb"],
        "chart": css_class(chart_key),
        "svg": svg,
        "file": file_name,
        "caption": caption,
        **asdict(exported),
        **({"report_words": dict(table_of_words("report"))} if for_report else {}),
    }
    width: Literal["stretch", "content"] = "content" if for_report else "stretch"
    component("contextlens.ui.widgets", "picture", data, key=key, width=width)


T = TypeVar("T")
Rows: TypeAlias = Sequence[Mapping[str, Any]] | pd.DataFrame
_EXACT = st.column_config.NumberColumn(format="%.4f")
_MAX_KEPT_ROWS = 200  # of a table that is kept as it is drawn
_MAX_KEPT_SIZE = 100_000  # characters of its values
_DRAWN = "drawn_page"
_PASSPORT = GLOSSARY["passport"]
_pictures: ContextVar[list[Mapping[str, str]] | None] = ContextVar(
    "contextlens_pictures", default=None
)
"""The charts and drawings of a closer look in order, as `picture_buttons` takes them."""


@contextmanager
def placeholder(page: str, *, height: int) -> Iterator[None]:
    """Reserve room for a page's picture while its content is computed for the first time.

    On later runs the old picture stays until the new one replaces it. Streamlit shows a skeleton if
    the computation takes a moment; above the old picture, it would make that jump down and up.
    """
    if session.kept(_DRAWN) == page:
        st.empty()  # the same number of elements, or everything below would be redrawn
        yield
        return
    with st.skeleton(height=height):
        yield
    session.keep(_DRAWN, page)


def box(*, border: bool = False) -> DeltaGenerator:
    """Return the place above a page's picture for its controls, or in a border for its subject."""
    return st.container(border=border, gap="small", key="box")


def controls(name: str = "") -> DeltaGenerator:
    """Return a row of controls, aligned at the bottom.

    Args:
        name: the row's name, if the page arranges it in its own way on a phone.
    """
    key = f"controls_{name}" if name else "controls"
    return st.container(horizontal=True, gap="small", vertical_alignment="bottom", key=key)


def menu(name: str = "Options", icon: str = "tune") -> DeltaGenerator:
    """Return a menu of a page's toolbar, which holds how a picture is shown."""
    return st.popover(name, icon=f":material/{icon}:", type="tertiary")


def notes(claims: Iterable[Claim]) -> None:
    """Draw remarks in small type, one line each."""
    for claim in claims:
        st.caption(str(claim))


def chart(
    figure: Figure,
    *,
    key: str,
    alt: str,
    on_select: Callable[[], None] | None = None,
    config: Mapping[str, Any] | None = None,
    selection_mode: Any = ("points",),
) -> None:
    """Draw a chart without plotly's mode bar.

    Args:
        figure: the figure, whose height is fixed by its builder.
        key: the chart's own key, which `picture_buttons` needs to save it.
        alt: a description for readers who cannot see the chart.
        on_select: called when one of its points is picked.
        config: plotly's settings in place of the usual ones.
        selection_mode: how points are picked.
    """
    options = (
        {} if on_select is None else {"on_select": on_select, "selection_mode": selection_mode}
    )
    default_config = {"displayModeBar": False, "displaylogo": False}
    # The height is reserved from the start, while the browser still loads plotly.
    height, config = figure.layout.height, dict(config or default_config)
    st.plotly_chart(figure, key=key, height=height, config=config, alt=alt, **options)
    _note_picture(chart_key=key)


def drawing(svg: str) -> None:
    """Let the report have a drawing of what a closer look shows without a chart."""
    _note_picture(svg=svg)


def _note_picture(**picture: str) -> None:
    if (pictures := _pictures.get()) is not None:
        pictures.append(picture)


def headline(
    *sentences: object, sure: Sequence[object] = (), key: str = "headline", is_long: bool = False
) -> None:
    """Write a page's finding above its picture, the largest text after the title.

    Args:
        sentences: the finding; then what else a reader needs to know, in smaller type.
        sure: further details for engineers, folded under "How sure is this?".
        key: the key; "reading" on a page that has no other reading.
        is_long: True to reserve room for two lines below the finding, for four on a phone.
    """
    texts = [explained(str(sentence)) for sentence in sentences]
    with st.container(key=key, gap="xsmall"):
        if texts:
            more = f'<p class="more">{" ".join(texts[1:])}</p>' if texts[1:] else ""
            n = f"{1 + bool(more)}{'_long' * is_long}"
            with st.container(key=f"finding_{n}_{key}"):  # as high from the start
                st.html(f'<p class="said finding">{texts[0]}</p>{more}')
        _folded(sure)


def claims(
    sentences: Sequence[object], *, sure: Sequence[object] = (), key: str = "reading"
) -> None:
    """Write the reading of a picture: a finding with its number, and at most one caution.

    Args:
        sentences: claims, or Markdown; none if the picture's title has the finding.
        sure: further details for engineers, folded under "How sure is this?".
        key: the key, different for each reading of a page, but always with the prefix "reading".
    """
    with st.container(key=key, gap="xsmall"):
        if sentences:
            st.html(f'<p class="said">{explained(" ".join(map(str, sentences)))}</p>')
        _folded(sure)


def _folded(sure: Sequence[object]) -> None:
    if sure and not session.is_presented():
        with st.expander(say("page.sure")):
            items = "".join(f"<li>{explained(str(sentence))}</li>" for sentence in sure)
            st.html(f'<ul class="said">{items}</ul>')


def table(
    rows: Rows,
    *,
    key: str,
    exact: Collection[str] | None = None,
    after: int | None = None,
    height: int | Literal["auto"] = "auto",
    columns: Mapping[str, Any] | None = None,
) -> None:
    """Draw rows as a table.

    Args:
        rows: the values of each row, by column; each `repr` must identify its value.
        key: the table's own key.
        exact: columns of numbers that are shown to four decimals.
        after: instead of `exact`, the number of leading columns that are shown as they are.
        height: in pixels; "auto" fits the rows, up to Streamlit's limit.
        columns: Streamlit's column settings, which take precedence.
    """
    given = key, tuple(exact or ()), after, height, columns
    if len(rows) > _MAX_KEPT_ROWS:
        _draw_table(rows, *given)
        return
    cells: Any
    if isinstance(rows, pd.DataFrame):
        cells = rows.columns.tolist(), rows.dtypes.tolist(), rows.to_numpy().tolist()
    else:
        cells = list(map(dict, rows))
    identity = repr((cells, given))
    if len(identity) > _MAX_KEPT_SIZE:
        _draw_table(rows, *given)
    else:
        _draw_kept_table(identity, (rows, *given))


@st.cache_data(max_entries=200, ttl=3600, show_spinner=False)
def _draw_kept_table(identity: str, _given: Any) -> None:  # noqa: ARG001 - Streamlit's cache key
    """Draw a table as it was drawn before, if it was: in 0.5 ms instead of 5."""
    _draw_table(*_given)


def _draw_table(
    rows: Rows,
    key: str,
    exact: Collection[str],
    after: int | None,
    height: int | Literal["auto"],
    columns: Mapping[str, Any] | None,
) -> None:
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows))
    exact_columns = frame.columns[after:] if after is not None else exact
    settings = {**dict.fromkeys(exact_columns, _EXACT), **(columns or {})}
    st.dataframe(
        frame, hide_index=True, column_config=settings, height=height, placeholder="", key=key
    )


def look_closer(
    view: ViewState,
    control: Choice,
    looks: Mapping[str, Callable[[], T]],
) -> T | None:
    """Draw the closer looks of a page, one at a time; return the result of the open one.

    The first chart or drawing of a look can be added to the report. An error in one of them is
    shown in its place; the rest of the page is unaffected. In present mode there is none.
    """
    if session.is_presented():
        return None
    with st.container():
        chosen = inputs.choice(view, control)
        token = _pictures.set([])
        try:
            with st.container(border=True, key="closer"), errors.boundary():
                result = looks[chosen]()
                _add_look(view, control.page, _pictures.get())
                return result
        finally:
            _pictures.reset(token)
    return None


def _add_look(view: ViewState, page: str, pictures: Sequence[Mapping[str, str]] | None) -> None:
    if not pictures:
        return
    exported = ExportedView(
        reading="st-key-closer",
        title=navigation.row(page).title,
        link=address_of(view, page),
        settings=describe(view, page, None),
    )
    name = f"{page}-closer"
    picture_buttons(file_name=name, key=name, exported=exported, for_report=True, **pictures[0])


def next_page() -> None:
    """Draw a link to the next page of the menu; none where a page runs without its frame."""
    page = runs.page()
    if page is not None:
        navigation.next_link(session.current(), navigation.row(page))


def tabs(numbers: Callable[[], None], hood: Callable[[], None], limits: str) -> None:
    """Draw the three tabs under a picture, except in present mode. At first, Numbers is open.

    The content of the other two is computed when they are opened.
    """
    if session.is_presented():
        return
    next_page()
    names = [say(f"page.tabs.{name}") for name in ("numbers", "hood", "limits")]
    first, second, third = st.tabs(names, key="tabs", on_change="rerun")
    with third:
        st.markdown(limits)
    _fill({first: numbers, second: hood})


def one_of(pictures: Mapping[str, Callable[[], None]], *, key: str) -> None:
    """Draw one tab for each picture; only the picture in the open tab is drawn.

    Args:
        pictures: the function that draws each picture, by the name on its tab. If that name
            changes, an open tab closes.
        key: the key of the tabs.
    """
    if session.is_presented():
        next(iter(pictures.values()))()
        return
    tab_containers = st.tabs(list(pictures), key=key, on_change="rerun")
    _fill(dict(zip(tab_containers, pictures.values(), strict=True)))


def _fill(fills: Mapping[TabContainer, Callable[[], None]]) -> None:
    for tab, fill in fills.items():
        if is_open(tab):
            with tab:
                fill()


def is_open(container: TabContainer | PopoverContainer) -> bool:
    """Return True if a tab is the open one, or a menu is open."""
    return bool(container.open)


def under_the_hood(
    *,
    formula: Sequence[str],
    snippet: str | Sequence[tuple[str, str]],
    passport: Passport,
    beside: Mapping[str, Passport] | None = None,
    shapes: Callable[[], None] | None = None,
    remark: str = "",
) -> None:
    """Draw the formula on the left; snippet, shapes and passport on the right.

    Args:
        formula: Markdown, one paragraph or formula each.
        snippet: Python that computes the page's numbers; or several pairs of title and Python. One
            without a title is for notebooks alone.
        passport: the passport of the numbers.
        beside: those of further numbers, by title.
        shapes: draws the shapes of the arrays, if any.
        remark: a note on the snippets, in small type.
    """
    left, right = st.columns(2, gap="medium")
    with left:
        for part in formula:
            st.markdown(part)
    with right:
        titled = [(say("page.same_numbers"), snippet)] if isinstance(snippet, str) else snippet
        for title, code in titled:
            if title:
                st.markdown(title)
                st.code(code, language="python", wrap_lines=True)
        if remark:
            st.caption(remark)
        if shapes is not None:
            st.markdown(say("page.shapes"))
            shapes()
        st.markdown(say("page.passport"))
        st.caption(_PASSPORT)
        for title, own in {"": passport, **(beside or {})}.items():
            if title:
                st.markdown(title)
            text = json.dumps(own.as_dict(), indent=2, ensure_ascii=False)
            st.code(text, language="json")


def shapes(rows: Rows, *, key: str) -> Callable[[], None]:
    """Return a function that draws shapes as a table, for `under_the_hood`."""
    return lambda: table(rows, key=key)


def downloads(
    place: DeltaGenerator,
    caption: str,
    *,
    page: str,
    name: str,
    chart: str = "",
    svg: str = "",
    report_svg: str = "",
    svg_title: str = "",
    snippets: Sequence[tuple[str, str]] = (),
    texts: Texts = None,
    layer: int | None = None,
    unused: Collection[str] = (),
    reading_key: str = "reading",
    files: Callable[[], None],
) -> None:
    """Draw "Add to report" and the page's Download menu, whose content is drawn when it is open.

    Args:
        place: where the menu is drawn.
        caption: the passport, as text.
        page: the page's name.
        name: the files' name without extension.
        chart: the chart's key; or
        svg: the drawing, see `picture_buttons`.
        report_svg: a drawing for the report alone, where the chart is not the page's main picture.
        svg_title: the title that the drawing has, if any.
        snippets: pairs of a title and Python, which become the view's notebook; one without a title
            goes on from the one before.
        texts: the texts behind the picture, see `describe`.
        layer: the layer that the picture shows, see `describe`.
        unused: the names of controls that do not matter to the picture.
        reading_key: the key of the reading whose first claim is about the picture.
        files: draws the buttons for files of numbers.
    """
    view = session.current()
    exported = ExportedView(
        css_class(reading_key),
        svg_title,
        navigation.row(page).title,
        address_of(view, page),
        describe(view, page, texts, layer=layer, unused=unused),
        export.notebook_cells(snippets),
    )
    with place:
        for_report, menu = (
            st.container(width="content", key="to_report"),
            st.container(width="content"),
        )
    with for_report:
        picture_buttons(
            chart_key=chart,
            svg=svg or report_svg,
            file_name=name,
            key=f"{name}_report",
            caption=caption,
            exported=exported,
            for_report=True,
        )
    with menu:
        opened = st.popover(
            say("page.download.menu"), icon=":material/download:", key="download", on_change="rerun"
        )
    if is_open(opened):
        with opened:
            st.caption(say("page.download.picture"))
            picture_buttons(
                chart_key=chart,
                svg=svg,
                file_name=name,
                key=f"{name}_picture",
                caption=caption,
                exported=exported,
            )
            st.caption(say("page.download.numbers"))
            files()
            st.caption(say("page.download.passport", passport=_PASSPORT))


def download_files(
    name: str,
    passport: Passport,
    *,
    rows: Callable[[], Sequence[Mapping[str, Any]]],
    arrays: Callable[[], Mapping[str, NDArray[Any]]],
) -> None:
    """Draw "CSV" and "Parquet" for a table and "NPZ" for arrays; a click creates the file."""
    kind = "application/octet-stream"
    with st.container(horizontal=True, gap="small"):
        download(f"{name}.csv", "text/csv", lambda: export.to_csv(rows(), passport))
        parquet = f"{name}.parquet"
        download(parquet, kind, lambda: export.to_parquet(rows(), passport), label="Parquet")
        download(f"{name}.npz", kind, lambda: export.to_npz(arrays(), passport))


def download(file_name: str, mime: str, make: Callable[[], bytes], *, label: str = "") -> None:
    """Draw a button for one file, by default with its ending; a click creates the file."""
    st.download_button(
        label or file_name.rsplit(".", maxsplit=1)[-1].upper(),
        make,
        file_name=file_name,
        mime=mime,
        on_click="ignore",
        width="stretch",
        key=file_name,
    )
