"""Report: the views that the visitor collected, to save as HTML, PDF or a notebook."""

from __future__ import annotations

from contextlens.features.report import page
from contextlens.ui.frame import shell
from contextlens.ui.state import session

view = session.current()
shell.header("report", view)
page.draw_report()
