"""Map: tokens, words or sentences, with those close together that the model treats as similar."""

from contextlens.features.map import controls, page
from contextlens.features.map.chart import HEIGHT
from contextlens.features.map.request import requested_map
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session

view = session.current()
downloads = shell.header(controls.PAGE, view)
card = runtime.load(view.model, height=HEIGHT)
drawable = page.drawable(view)
requested = requested_map(drawable, card)
page.toolbar(view, requested)
requested = page.normalised(requested, card)
display = page.first_map(drawable, card, requested)
if display is not None:
    other = page.one_or_two(drawable, display, card, requested)
    page.explain(display, card, other)
    page.downloads(display, card, other, downloads)
