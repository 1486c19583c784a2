"""Sentence vectors: which single vector represents a sentence best, and what it finds."""

from contextlens.features.sentences import controls, looks, page
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header(controls.PAGE, view)
with kit.box():
    page.toolbar(view)
card = runtime.load(view.model, height=page.HEIGHT)
if controls.SHOW.of(view) == controls.SEARCH:
    found = page.search_of(view, card)
    if found is not None:
        looks.draw_search(found)
        looks.explain_search(found, card)
        looks.search_downloads(found, downloads)
else:
    result = page.result_of(view, card)
    if result is not None:
        page.picture(result)
        page.look_closer(view, card)
        page.explain(result)
        page.downloads(result, downloads)
