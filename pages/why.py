"""The page “Why alike?”: the words, layers and heads that make two sentences alike."""

from components.features.why import controls, page
from components.features.why.looks import HEIGHT
from components.features.why.score import Missing, score_of
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit
from components.ui.widgets.layer_bar import layer_bar

view = session.current()
downloads = shell.header(controls.PAGE, view)
with kit.box():
    page.toolbar(view)
card = runtime.load(view.model, height=HEIGHT)
with kit.room(controls.PAGE, height=HEIGHT):
    found = score_of(view, runtime.service(), card)
    baseline = runtime.baseline(card)
    ruler = runtime.ruler(card, baseline)
if isinstance(found, Missing):
    page.missing(view, found)
else:
    marks = page.marks_of(found, card, baseline, ruler)
    page.score_row(found, marks)
    page.cut_off(found)
    shown = page.shown_of(view, found)
    if shown is not None:
        page.picture(view, shown)
    layer_bar(view, range(card.n_layers + 1), plays=page.is_quick(view))
    if shown is not None:
        page.in_words(shown)
        page.against(found, marks)
        page.look_closer(view, found, card)
        page.explain(view, shown)
        page.downloads(view, shown, downloads)
    if found.what != "word":
        page.await_pairs(card)
    elif ruler is None:
        runtime.await_measures(card)
