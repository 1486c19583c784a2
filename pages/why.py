"""Why alike?: which words, layers and heads make two sentences alike."""

from components.features.why import controls
from components.features.why.compute.score import Missing, score_of
from components.features.why.looks.frame import HEIGHT
from components.features.why.page import missing, picture, score, tabs, toolbar
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit
from components.ui.widgets.layer_bar import layer_bar

view = session.current()
downloads = shell.header(controls.PAGE, view)
with kit.box():
    toolbar.toolbar(view)
card = runtime.load(view.model, height=HEIGHT)
with kit.room(controls.PAGE, height=HEIGHT):
    found = score_of(view, runtime.service(), card)
    baseline = runtime.baseline(card)
    ruler = runtime.ruler(card, baseline)
if isinstance(found, Missing):
    missing.missing(view, found)
else:
    marks = score.marks_of(found, card, baseline, ruler)
    score.score_row(found, marks)
    missing.cut_off(found)
    shown = picture.shown_of(view, found)
    if shown is not None:
        picture.picture(view, shown)
    layer_bar(view, range(card.n_layers + 1), plays=picture.is_quick(view))
    if shown is not None:
        picture.in_words(shown)
        score.against(found, marks)
        tabs.look_closer(view, found, card)
        tabs.explain(view, shown)
        tabs.downloads(view, shown, downloads)
    if found.what != "word":
        score.await_pairs(card)
    elif ruler is None:
        runtime.await_measures(card)
