"""Tokens & IDs: the pieces of a text, and the numbers that the model receives."""

from functools import partial

from contextlens.features.tokens import controls, looks, page
from contextlens.features.tokens.compute import tokenized_sentence
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session
from contextlens.ui.widgets import kit

view = session.current()
downloads = shell.header(controls.PAGE, view)
model = runtime.load(view.model, height=420)
service = runtime.service()
with kit.placeholder(controls.PAGE, height=420):
    card = service.load_tokenizer(view.model)
    tokenized = tokenized_sentence(view, service, card)

with kit.box():
    page.toolbar(view, card)
page.strip(tokenized)
page.words(tokenized)
kit.look_closer(
    view,
    controls.SECTION,
    {
        controls.VOCABULARY: lambda: looks.vocabulary(view, tokenized, service),
        controls.ID_TO_ROW: lambda: looks.id_to_row(tokenized, service, model),
        controls.TWO_TOKENIZERS: lambda: looks.two_tokenizers(view, tokenized, service),
        controls.BACK_TO_TEXT: lambda: looks.back(view, tokenized, service),
    },
)
page.explain(tokenized, model)
page.downloads(tokenized, model, downloads, partial(tokenized_sentence, view, service, card))
