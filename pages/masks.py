"""Padding & masks: a batch of sentences, and the effect of its padding if the mask is off."""

from functools import partial

from contextlens.features.masks import page
from contextlens.features.masks.controls import PAGE, SENTENCE
from contextlens.features.masks.padded_batch import masks_of
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.subject import subject_bar

view = session.current()
downloads = shell.header(PAGE, view)
subject_bar(view, PAGE, control=SENTENCE, pairs=True)
length = page.toolbar(view)

card = runtime.load(view.model, height=560)
service = runtime.service()
with kit.placeholder(PAGE, height=560):
    masks = masks_of(view, service, card)

page.choose_length(masks, view, length)
page.problems(masks, service, card)
if not masks.batches:
    page.nothing()
else:
    page.picture(masks, view)
    page.layers(masks, card)
    page.look_closer(masks, view, service, card)
    page.explain(masks, card)
    page.downloads(masks, card, downloads, partial(masks_of, view, service, card))
