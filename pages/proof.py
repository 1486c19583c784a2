"""Proof: whether this installation gives the numbers that it should, and the published ones."""

from components.features.proof import page
from components.features.proof.controls import PAGE
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit

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
    page.downloads(result, downloads)
