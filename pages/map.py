"""Map: tokens, words or sentences, with those close together that the model treats as similar."""

from components.features.map import controls, page
from components.features.map.compute import requested_map
from components.features.map.page import toolbar
from components.ui.frame import shell
from components.ui.models import runtime
from components.ui.state import session
from components.ui.widgets import kit

view = session.current()
downloads = shell.header(controls.PAGE, view)
card = runtime.load(view.model, height=page.HEIGHT)
drawable = page.drawable(view)
requested = requested_map(drawable, card)
with kit.box():
    toolbar(view, requested)
display = page.first_map(drawable, card, requested)
if display is not None:
    page.one_or_two(drawable, display, card, requested)
    page.explain(display, card)
    page.downloads(display, downloads)
