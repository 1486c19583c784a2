"""Fill in the blank: which words the model expects in the place of hidden ones."""

from functools import partial

from contextlens.features.blank import page
from contextlens.features.blank.controls import PAGE, SECTION
from contextlens.features.blank.predictions import predictions
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit
from contextlens.ui.widgets.subject import subject_bar

view = session.current()
downloads = shell.header(PAGE, view)
subject_bar(view, PAGE, pairs=True)
card = runtime.load(view.model, height=480)
service = runtime.service()

if page.has_head(card):
    with kit.box():
        page.toolbar(view)
    with kit.placeholder(PAGE, height=480):
        found = predictions(view, service, card)
    page.picture(view, found)
    looks = {name: partial(draw, view, found, service) for name, draw in page.LOOKS.items()}
    look = kit.look_closer(view, SECTION, looks)
    page.explain(found)
    page.downloads(view, found, look, downloads)
else:
    page.without_head(view, card)
