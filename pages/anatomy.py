"""Anatomy: what a model is made of, with its weights or from its config alone."""

from contextlens.features.anatomy import page
from contextlens.features.anatomy.compute import anatomy_view
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header("anatomy", view)
card = runtime.load(view.model, height=520)
service = runtime.service()
with kit.placeholder("anatomy", height=520):
    anatomy = anatomy_view(view, service, card, runtime.own_models())

with kit.box():
    page.toolbar(view, service, card)
page.picture(view, anatomy)
page.words(anatomy)
page.look_closer(view, anatomy, service)
page.explain(anatomy)
page.downloads(anatomy, downloads)
