"""Pairs: whether a word means the same in both texts, for a file of pairs at every layer."""

from components.features.pairs import controls, looks
from components.features.pairs.compute.asked import pairs_of
from components.features.pairs.compute.shown import PairsShown, chosen_layer
from components.features.pairs.page import file_panel, picture, tabs, waiting
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit
from components.ui.widgets.layer_bar import layer_bar

view = session.current()
downloads = shell.header(controls.PAGE, view)
pairs = pairs_of(view)
with kit.box():
    tabs.toolbar(view, pairs)
card = runtime.load(view.model, height=picture.HEIGHT)
if controls.SOURCE.of(view) == "file":
    file_panel.file_panel(view, pairs)
compared = None if pairs is None else waiting.compared(pairs, card, height=picture.HEIGHT)
if pairs is not None and compared is not None:
    baseline = runtime.baseline(card)
    shown = PairsShown(pairs, compared, chosen_layer(view, compared.layers))
    if picture.has_cosines(shown):
        picture.picture(shown, baseline)
        layer_bar(view, compared.layers)
        picture.in_words(shown)
        looks.look_closer(view, shown)
        tabs.explain(shown, card)
        tabs.downloads(shown, downloads)
    if baseline is None:
        runtime.await_measures(card)
