"""Tokens & IDs: the pieces of a text, and the numbers that the model receives."""

from functools import partial

from contextlens.features.tokens import page
from contextlens.features.tokens.controls import PAGE, SECTION
from contextlens.features.tokens.tokenized_sentence import tokenized_sentence
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header(PAGE, view)
page.subject(view)
model = runtime.load(view.model, height=420)
service = runtime.service()
with kit.placeholder(PAGE, height=420):
    card = service.load_tokenizer(view.model)
    tokenized = tokenized_sentence(view, service, card)

page.headline(tokenized)
with kit.box():
    page.toolbar(view, card)
page.strip(tokenized)
draws = {name: partial(draw, view, tokenized, service, model) for name, draw in page.LOOKS.items()}
kit.look_closer(view, SECTION, draws)
page.explain(tokenized, model)
page.downloads(tokenized, model, downloads, partial(tokenized_sentence, view, service, card))
