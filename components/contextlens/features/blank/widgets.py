"""The component of Fill in the blank: sentences whose words are hidden by click, and bars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

from contextlens.content.language import say
from contextlens.core.words import split_words
from contextlens.features.blank.blanks import BlankedSentence
from contextlens.features.blank.predictions import Answer, Bar, Predictions, share_text
from contextlens.figures.theme import color_of
from contextlens.ui.state.view import letter
from contextlens.ui.widgets.chips import badge_ink, direction_of, visible
from contextlens.ui.widgets.component import component

_MAX_WORDS = 1_000  # drawn of one sentence: more than any model here reads


def blanks(predictions: Predictions, *, key: str, on_toggle: Callable[[int, int], None]) -> None:
    """Show the sentences and bars; call `on_toggle(sentence, word)` when a word is clicked.

    Args:
        predictions: what is shown.
        key: the component's own key.
        on_toggle: a Streamlit callback; the word is hidden if it was not, and the other way round.
    """
    words = {s.index: s.words for s in predictions.sentences}  # a session keeps `receive`

    def receive(sent: object) -> None:
        pick = _checked(sent, words)
        if pick is not None:
            on_toggle(*pick)

    answers = list(predictions.answers())
    data: Mapping[str, object] = {
        "sentences": [
            _sentence(s, predictions, [a for a in answers if a.sentence is s])
            for s in predictions.sentences
        ],
        "most": max((answer.guesses[0].share for answer in answers), default=1.0),
        "alt": predictions.alt(),
        "hint": say("blank.hint"),
    }
    component("contextlens.features.blank", "blanks", data, key=key, on_pick=receive)


def _checked(sent: object, words: Mapping[int, tuple[bool, ...]]) -> tuple[int, int] | None:
    """Return the sentence and the word that the browser reported; None if it cannot be hidden."""
    if not isinstance(sent, Mapping):
        return None
    sentence, word = sent.get("sentence"), sent.get("word")
    if type(sentence) is not int or type(word) is not int or sentence not in words:
        return None
    can_be = words[sentence]
    return (sentence, word) if 0 <= word < len(can_be) and can_be[word] else None


def _sentence(
    sentence: BlankedSentence, predictions: Predictions, answers: list[Answer]
) -> dict[str, object]:
    color, text = color_of(sentence.index), sentence.sentence.text
    return {
        "index": sentence.index,
        "letter": letter(sentence.index),
        "color": color,
        "ink": badge_ink(color),
        "segments": _segments(sentence, answers),
        "pair": _pair_segments(sentence, answers),
        "replaced": visible(predictions.other) if predictions.how == "replaced" else "",
        "reads": predictions.how,
        "numbered": len(sentence.blanks) > 1,
        "blocks": [_block(answer, predictions) for answer in answers],
        "empty": say("blank.empty" if text.strip() else "blank.no_text"),
    }


def _segments(sentence: BlankedSentence, answers: list[Answer]) -> list[dict[str, object]]:
    """Return the pieces of the text: words, gaps and typed blanks."""
    text = sentence.sentence.text
    spans = split_words(text)
    end = len(text) if len(spans) <= _MAX_WORDS else spans[_MAX_WORDS - 1][1]
    words = {span: i for i, span in enumerate(spans)}
    typed = {a.blank.span for a in answers if not a.blank.written and a.blank.text_id == 0}
    covered = [(a, b) for a, b in spans if any(c < b and a < d for c, d in typed)]
    own = [span for span in (*spans, *typed) if span not in covered and span[1] <= end]
    cuts = sorted({0, end, *(cut for span in own for cut in span)})
    return [
        _segment(sentence, (a, b), words.get((a, b)), answers, text_id=0) for a, b in pairwise(cuts)
    ]


def _pair_segments(sentence: BlankedSentence, answers: list[Answer]) -> list[dict[str, object]]:
    pair = sentence.sentence.pair or ""
    typed = [a.blank.span for a in answers if a.blank.text_id == 1]
    cuts = sorted({0, len(pair), *(cut for span in typed for cut in span)})
    return [_segment(sentence, (a, b), None, answers, text_id=1) for a, b in pairwise(cuts)]


def _segment(
    sentence: BlankedSentence,
    span: tuple[int, int],
    word: int | None,
    answers: list[Answer],
    *,
    text_id: int,
) -> dict[str, object]:
    text = (sentence.sentence.text, sentence.sentence.pair or "")[text_id][slice(*span)]
    here = [a for a in answers if a.blank.span == span and a.blank.text_id == text_id]
    can_be = word is not None and sentence.words[word]
    return {
        "text": visible(text),
        "dir": direction_of(text) if word is not None else "",
        "word": word if can_be else None,
        "hidden": word in sentence.hidden if can_be else bool(here),
        "typed": bool(here) and not here[0].blank.written,
        "blanks": [answer.n for answer in here],
    }


def _block(answer: Answer, predictions: Predictions) -> dict[str, object]:
    bars = answer.drawn(predictions.n_drawn)
    return {
        "n": answer.n,
        "title": say("blank.block", n=answer.n, word=visible(answer.blank.written))
        if answer.blank.written
        else say("blank.block_typed", n=answer.n),
        "bars": [_bar(bar) for bar in bars],
        # As many lines at every layer, also where what is written is among the most probable.
        "lines": predictions.n_drawn
        + sum(one is not None for one in (answer.blank.written_id, answer.blank.read_id)),
        "candidates": [_bar(bar) for bar in answer.candidates],
    }


def _bar(bar: Bar) -> dict[str, object]:
    return {
        "kind": bar.kind,
        "mark": bar.mark,
        "text": visible(bar.text),
        "rank": f"{bar.rank:,}",
        "share": round(bar.share, 6),
        "percent": share_text(bar.share),
        "says": say(f"blank.says.{bar.kind}", rank=bar.rank, probability=f"{bar.share:.4g}"),
    }
