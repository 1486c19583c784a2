"""Pairs: whether a word means the same in two texts, for a file of pairs at every layer."""

from contextlens.features.pairs import controls, page
from contextlens.features.pairs.comparison import own_pairs, pairs_of
from contextlens.features.pairs.layer_chart import HEIGHT
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session

view = session.current()
downloads = shell.header(controls.PAGE, view)
own = own_pairs(view)
pairs = pairs_of(view)
pair_container, vectors_container = page.toolbar(view, own)
card = runtime.load(view.model, height=HEIGHT)
page.file_panel(view, own)
page.choose_pooling(view, pairs, card, vectors_container)
result = page.result_of(view, pairs, card)
if result is not None:
    baseline = None if pairs.vectors else runtime.baseline(card)
    at_layer = result.at_layer(pairs, view.layer, baseline)
    if page.has_cosines(at_layer):
        page.picture(view, at_layer, pair_container)
        page.layers(view, at_layer)
        page.look_closer(view, at_layer)
        page.explain(at_layer, card)
        page.downloads(view, at_layer, card, downloads)
    if baseline is None and not pairs.vectors:
        runtime.await_measures(card)
