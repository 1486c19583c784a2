"""The page “Why alike?”: the words, layers and heads that make two sentences alike."""

from contextlens.features.why import controls, page
from contextlens.features.why.charts import HEIGHT
from contextlens.features.why.score import NoScore, score_of
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.layer_bar import layer_bar

view = session.current()
downloads = shell.header(controls.PAGE, view)
page.subject(view)
with kit.box():
    page.toolbar(view)
card = runtime.load(view.model, height=HEIGHT)
with kit.placeholder(controls.PAGE, height=HEIGHT):
    score = score_of(view, runtime.service(), card)
    baseline = runtime.baseline(card)
    ruler = runtime.ruler(card, baseline)
if isinstance(score, NoScore):
    page.explain_no_score(view, score)
else:
    page.left_unread(score)
    yardsticks = page.yardsticks_of(score, card, baseline, ruler)
    result = page.picture(view, score, yardsticks)
    layer_bar(view, range(card.n_layers + 1), plays=False)
    page.look_closer(view, score, result)
    if result is not None:
        page.explain(view, result)
        page.downloads(view, result, downloads)
    if score.vector_kind != "word":
        page.await_pairs(card)
    elif ruler is None:
        runtime.await_measures(card)
