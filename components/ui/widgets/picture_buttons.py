"""Saving a chart as a picture in the reader's browser: no Chrome and no renderer on the server.

The page's own plotly draws the chart once more, so what is saved is what is on the page, in the
theme it is seen in. Must not import torch, transformers or plotly.
"""

from __future__ import annotations

from components.ui.widgets.component import component, css_class

__all__ = ["picture_buttons"]


def picture_buttons(
    *, chart_key: str = "", svg: str = "", file_name: str, key: str, caption: str = ""
) -> None:
    """Shows the buttons "PNG" (2400 x 1350) and "SVG" (1200 x 675), which save a chart or drawing.

    Args:
        chart_key: The `key` of the `st.plotly_chart`, or of a container around it.
        svg: In a chart's place, an SVG of at most 928 x 440 px that draws in `currentColor`.
        file_name: The file's name without its ending.
        key: The buttons' own key.
        caption: What stands in small type under the picture: the passport.
    """
    data = {"chart": css_class(chart_key), "svg": svg, "file": file_name, "caption": caption}
    component("components.ui.widgets", "picture", data, key=key)
