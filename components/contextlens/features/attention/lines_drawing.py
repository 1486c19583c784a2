"""The lines between tokens as an SVG for the report, as the page draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contextlens.figures.svg import HEIGHT, WIDTH, drawing, fitted, text_at, text_width
from contextlens.figures.theme import CATEGORICAL

if TYPE_CHECKING:
    from contextlens.features.attention.attention import Pick
    from contextlens.features.attention.grid import Grid

_MOST = 20  # tokens on a side whose names can be read
_LEAST, _LEAST_FAINT = 0.004, 0.05  # weights whose lines can be seen
_HEAD = 30  # pixels of the headings
_LEFT, _RIGHT = 300, WIDTH - 300  # between these are the lines
_OWN, _JOINED = CATEGORICAL[0], CATEGORICAL[2]


def lines_drawing(grid: Grid, pick: Pick, verbs: tuple[str, str]) -> str:
    """Return two columns of tokens, the lines between them, and the chosen token's weights.

    Args:
        grid: rows on the left, columns on the right.
        pick: the two chosen items.
        verbs: the headings of the two columns.

    Returns:
        An SVG; "" if there are too many tokens to be read.
    """
    longest = max(len(grid.rows), len(grid.columns))
    if longest > _MOST:
        return ""
    step = min(40.0, (HEIGHT - _HEAD) / longest)
    size = round(min(18.0, 0.62 * step))
    parts = [
        text_at(_LEFT, 16, verbs[0], 14, 0.75, 'text-anchor="end"'),
        text_at(_RIGHT, 16, verbs[1], 14, 0.75),
        *_lines(grid, pick, step),
    ]
    is_from = pick.side == "from"
    weights = grid.weights[pick.row] if is_from else grid.weights[:, pick.column]
    for items, is_left, chosen in ((grid.rows, True, pick.row), (grid.columns, False, pick.column)):
        is_own = is_left == is_from
        for i, item in enumerate(items):
            y = _HEAD + (i + 0.5) * step
            color = "" if i != chosen else _OWN if is_own else _JOINED
            rounded = 0 if is_own else round(100 * float(weights[i]))
            share = f"{rounded}%" if rounded else ""
            parts += _token(item.label, share, y, size, is_left=is_left, color=color)
    return drawing(parts, _HEAD + longest * step)


def _lines(grid: Grid, pick: Pick, step: float) -> list[str]:
    """Return the lines, those of the chosen token over all others, and that of both on top."""
    faint, own, joined = list[str](), list[str](), list[str]()
    for row, weights in enumerate(grid.weights.tolist()):
        for column, weight in enumerate(weights):
            is_own = row == pick.row if pick.side == "from" else column == pick.column
            start, end = (_HEAD + (i + 0.5) * step for i in (row, column))
            if (row, column) == (pick.row, pick.column):
                joined.append(_line(start, end, _JOINED, 2 + 8 * weight, 1.0))
            elif is_own and weight >= _LEAST:
                own.append(_line(start, end, _OWN, 1 + 6 * weight, 0.45 + 0.5 * weight))
            elif not is_own and weight > _LEAST_FAINT:
                faint.append(_line(start, end, "currentColor", 1 + weight, 0.12 + 0.2 * weight))
    return [*faint, *own, *joined]


def _line(start: float, end: float, color: str, width: float, opacity: float) -> str:
    left, right = _LEFT + 8, _RIGHT - 8
    bends = [left + share * (right - left) for share in (0.45, 0.55)]
    return (
        f'<path d="M{left} {start:.1f} C {bends[0]:.1f} {start:.1f}, {bends[1]:.1f} {end:.1f}, '
        f'{right} {end:.1f}" fill="none" stroke="{color}" stroke-width="{width:.1f}" '
        f'stroke-opacity="{opacity:.2f}"/>'
    )


def _token(label: str, share: str, y: float, size: int, *, is_left: bool, color: str) -> list[str]:
    """Return a token beside the lines, and its weight on its other side."""
    name = fitted(label, 200, size)
    width = text_width(name, size)
    x = _LEFT - 6 - width if is_left else _RIGHT + 6.0
    look = f'fill="{color}" fill-opacity="0.2" stroke="{color}" stroke-width="1.5"'
    box = (
        f'<rect x="{x - 6:.1f}" y="{y - 0.78 * size:.1f}" width="{width + 12:.1f}" '
        f'height="{1.5 * size:.1f}" rx="5" '
        f"""{look if color else 'fill="currentColor" fill-opacity="0.06"'}/>"""
    )
    end, anchor = (x - 14, "end") if is_left else (x + width + 14, "start")
    more = f'text-anchor="{anchor}"' + (' font-weight="650"' if color else "")
    return [
        box,
        text_at(x, y + 0.34 * size, name, size, 1.0),
        text_at(end, y + 5, share, 14, 1.0 if color else 0.75, more) if share else "",
    ]
