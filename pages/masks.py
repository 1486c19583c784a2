"""Padding & masks: a batch of sentences, and the effect of its padding if the mask is off."""

from functools import partial

from contextlens.features.masks import looks, page
from contextlens.features.masks.compute import masks_of
from contextlens.features.masks.controls import PAGE
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.layer_bar import layer_bar

view = session.current()
downloads = shell.header(PAGE, view)
places = page.toolbar(view)

card = runtime.load(view.model, height=560)
service = runtime.service()
with kit.placeholder(PAGE, height=560):
    masks = masks_of(view, service, card)

page.choose_text(masks, view, *places)
page.problems(masks, service, card)
if masks.lab is None:
    page.nothing()
else:
    page.picture(masks, view)
    layer_bar(view, masks.lab.layers)
    page.words(masks, view)
    page.over_layers(masks, card)
    looks.closer(masks, view, service, card)
    page.explain(masks, card)
    page.downloads(masks, card, downloads, partial(masks_of, view, service, card))
