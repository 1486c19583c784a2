"""Map: tokens, words or sentences, with those close together that the model treats as similar."""

from components.features.map import controls, page
from components.features.map.compute import asked_map
from components.features.map.page import toolbar
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit

view = session.current()
downloads = shell.header(controls.PAGE, view)
card = runtime.load(view.model, height=page.HEIGHT)
asked = asked_map(view, card)
with kit.box():
    toolbar(view, asked)
shown = page.first_map(view, card, asked)
if shown is not None:
    page.one_or_two(view, shown, card, asked)
    page.explain(shown, card)
    page.downloads(shown, downloads)
