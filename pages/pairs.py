"""Pairs: whether a word means the same in two texts, for a file of pairs at every layer."""

from contextlens.features.pairs import controls, looks, page
from contextlens.features.pairs.compute import PairsAtLayer, chosen_layer, pairs_of
from contextlens.features.pairs.looks import HEIGHT
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.layer_bar import layer_bar

view = session.current()
downloads = shell.header(controls.PAGE, view)
pairs = pairs_of(view)
with kit.box():
    place, vectors = page.toolbar(view, pairs)
card = runtime.load(view.model, height=HEIGHT)
if controls.SOURCE.of(view) == "file":
    page.file_panel(view, pairs)
page.choose_pooling(view, pairs, card, vectors)
result = None if pairs is None else page.result_of(view, pairs, card)
if pairs is not None and result is not None:
    baseline = runtime.baseline(card)
    at_layer = PairsAtLayer(pairs, result, chosen_layer(view, result.layers))
    if page.has_cosines(at_layer):
        page.picture(view, at_layer, baseline, place)
        layer_bar(view, result.layers)
        looks.look_closer(view, at_layer, baseline)
        page.explain(at_layer, card)
        page.downloads(view, at_layer, card, downloads)
    if baseline is None:
        runtime.await_measures(card)
