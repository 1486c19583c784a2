"""Labels: what the model's own trained head calls each sentence, or each of its words."""

from contextlens.features.labels import page
from contextlens.features.labels.controls import PAGE, SENTENCE
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets.subject import subject_bar

view = session.current()
downloads = shell.header(PAGE, view)
subject_bar(view, PAGE, control=SENTENCE, pairs=True)
page.labels(view, runtime.load(view.model, height=page.HEIGHT), downloads)
