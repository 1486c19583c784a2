"""Proof: whether this installation gives the numbers that it should, and the published ones."""

from contextlens.features.proof import page
from contextlens.features.proof.controls import PAGE
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header(PAGE, view)
with kit.box():
    page.toolbar(view)
card = runtime.load(view.model, height=page.HEIGHT)
page.file_panel(view, card)
result = page.result_of(view, card)
if result is not None:
    page.picture(result)
    page.offer_bert_base(view, card)
    page.explain(view, result, card)
    page.downloads(result, card, downloads)
