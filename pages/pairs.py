"""Pairs: whether a word means the same in two texts, for a file of pairs at every layer."""

from components.features.pairs import controls, looks, page
from components.features.pairs.compute import PairsShown, chosen_layer, pairs_of
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit
from components.ui.widgets.layer_bar import layer_bar

view = session.current()
downloads = shell.header(controls.PAGE, view)
pairs = pairs_of(view)
with kit.box():
    page.toolbar(view, pairs)
card = runtime.load(view.model, height=page.HEIGHT)
if controls.SOURCE.of(view) == "file":
    page.file_panel(view, pairs)
compared = None if pairs is None else page.compared(pairs, card, height=page.HEIGHT)
if pairs is not None and compared is not None:
    baseline = runtime.baseline(card)
    shown = PairsShown(pairs, compared, chosen_layer(view, compared.layers))
    if page.has_cosines(shown):
        page.picture(shown, baseline)
        layer_bar(view, compared.layers)
        page.in_words(shown)
        looks.look_closer(view, shown)
        page.explain(shown, card)
        page.downloads(shown, downloads)
    if baseline is None:
        runtime.await_measures(card)
