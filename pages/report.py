"""Report: the views that the visitor collected, to save as HTML, PDF or a notebook."""

from __future__ import annotations

from contextlens.features.home.page import example_of
from contextlens.features.report import page
from contextlens.features.tokens.tokenized_sentence import (
    tokenized_sentence,
    tokens_claims,
    tokens_svg,
)
from contextlens.ui.frame import shell
from contextlens.ui.models import runtime
from contextlens.ui.state import session

view = session.current()
shell.header("report", view)
examples = []
ready = session.default()
if runtime.is_loaded(ready.model):
    story = example_of(ready, runtime.load(ready.model))
    if story is not None:
        examples.append(page.ExampleView(*story))
    service = runtime.service()
    tokenized = tokenized_sentence(ready, service, service.load_tokenizer(ready.model))
    svg = tokens_svg(tokenized.boxes, tokenized.title)
    name = tokenized.unknown_name
    claim = tokens_claims(tokenized.tokens, tokenized.kinds, tokenized.labels, name)[0]
    examples.append(page.ExampleView(tokenized.title, str(claim), svg))
page.draw_report(examples)
