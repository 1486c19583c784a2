"""Search: the texts of a collection that are nearest to a query, by the model and by words."""

from contextlens.features.search import controls, page
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session

view = session.current()
downloads = shell.header(controls.PAGE, view)
vectors = page.toolbar(view)
card = runtime.load(view.model, height=page.HEIGHT)
page.choose_vectors(view, card, vectors)
page.search_texts(view, card, downloads)
