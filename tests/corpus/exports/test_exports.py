"""What other tools write: their texts, marked words and labels; what is left out is counted."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.core.errors import CorpusError
from contextlens.corpus.exports import reading
from contextlens.corpus.exports.reading import EXPORTS
from contextlens.corpus.readers import Table, read, to_corpus
from contextlens.corpus.targets import guess_marks, label_columns, targets_of
from tests.support.workbooks import zipped

MAX = 20_000_000
BANKS = ["The bank shut at noon", "🎉 We sat on the bank of the Oder", "No word is marked here"]


def jsonl(*items: object) -> bytes:
    return "\n".join(json.dumps(item) for item in items).encode()


def place(given: str, label: str, **more: object) -> dict[str, object]:
    start = given.index("bank")
    return {"start": start, "end": start + 4, "label": label, **more}


def task(text: str, *annotations: Mapping[str, Any], **more: object) -> dict[str, object]:
    own = [{"was_cancelled": False, "completed_by": 1, **given} for given in annotations]
    return {"id": 7, "data": {"text": text, "meta": {"source": "web"}}, "annotations": own, **more}


def result(text: str, label: str) -> dict[str, object]:
    value = {"start": text.index("bank"), "end": text.index("bank") + 4, "text": "bank",
             "labels": [label]}  # fmt: skip
    return {"id": "a", "type": "labels", "from_name": "sense", "to_name": "text", "value": value}


def choice(name: str, *chosen: str) -> dict[str, object]:
    return {"id": "b", "type": "choices", "from_name": name, "value": {"choices": list(chosen)}}


STUDIO = [
    task(BANKS[0], {"result": [result(BANKS[0], "money"), choice("mood", "sad")]},
         predictions=[{"result": []}]),
    task(BANKS[1], {"result": [result(BANKS[1], "river")]}, {"was_cancelled": True, "result": []}),
    task(BANKS[2], {"result": [{"type": "relation", "from_id": "a"}]}),
    task("A text that was skipped", {"was_cancelled": True, "result": []}),
]  # fmt: skip
STUDIO_CSV = (
    "text,id,sense,mood,annotator,annotation_id,created_at,lead_time\n"
    '"The bank, it shut",1,"[{""start"":4,""end"":8,""text"":""bank"",""labels"":[""money""]}]",'
    'sad,1,3,x,2.0\n"We sat on the bank",2,"[{""start"":14,""end"":18,""text"":""bank"",'
    '""labels"":[""river""]}]","{""choices"": [""good"", ""calm""]}",1,4,x,1.0\n'
)
ANSWERED = {"_input_hash": 1, "_task_hash": 2, "answer": "accept"}
SQUAD = {
    "version": "1.1",
    "data": [{"title": "Rivers", "paragraphs": [{"context": "The Oder is a river.", "qas": [
        {"question": "What is the Oder?", "answers": [{"text": "a river", "answer_start": 12},
                                                      {"text": "river", "answer_start": 14}]},
        {"question": "Where is it?", "answers": []}]}]}],
}  # fmt: skip
ARGILLA = [
    {"id": "a", "fields": {"text": BANKS[0]}, "suggestions": {"sense": {"value": "x"}},
     "responses": {"sense": [{"value": "money", "user_id": "u1", "status": "submitted"},
                             {"value": "river", "user_id": "u2", "status": "submitted"}]}},
    {"id": "b", "fields": {"text": BANKS[1]}, "suggestions": {},
     "responses": {"sense": [{"value": "river", "user_id": "u1", "status": "discarded"}]}},
]  # fmt: skip
TELEGRAM = {"name": "x", "type": "personal_chat", "id": 1, "messages": [
    {"type": "message", "date": "2024", "from": "Ann", "text": ["See ", {"text": "the bank"}]},
    {"type": "message", "date": "2024", "from": "Bob", "text": "I did"},
    {"type": "service", "date": "2024", "actor": "Bob", "text": ""},
    {"type": "message", "date": "2024", "from": "Bob", "photo": "x", "text": ""}]}  # fmt: skip
CONLL = "-DOCSTART- -X- O\n\nNew NNP B-LOC\nYork NNP I-LOC\nis VBZ O\nbig JJ O\n\nAnn NNP B-PER\n"
CONLLU = (
    "# text = I don't swim, now.\n1\tI\tI\tPRON\tP\t_\t4\tnsubj\t_\t_\n"
    "2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdo\tdo\tAUX\t_\t_\t_\t_\t_\t_\n"
    "3\tn't\tnot\tPART\t_\t_\t_\t_\t_\t_\n4\tswim\tswim\tVERB\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "5\t,\t,\tPUNCT\t_\t_\t_\t_\t_\t_\n5.1\tx\tx\tVERB\t_\t_\t_\t_\t_\t_\n"
    "6\tnow\tnow\tADV\t_\t_\t_\t_\t_\tSpaceAfter=No\n7\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_\n\n"
)
SRT = (
    "\ufeff1\r\n00:00:01,000 --> 00:00:02,500\r\nWhere did you put the key?\r\n\r\n2\r\n"
    "00:00:02,000 --> 00:00:03,500\r\n<i>I left it on the bank</i>\r\nof the river.\r\n\r\n3\r\n"
    "00:00:04,000 --> 00:00:05,500\r\n- Hurry up!\r\n- I am coming\r\nat once.\r\n\r\n"
)
VTT = (
    "WEBVTT Kind: captions\n\nNOTE by me\nand you\n\nintro\n00:01.000 --> 00:02.000 align:start\n"
    "<v Ann>Hello <b>you</b>\nall\n\n00:03.000 --> 00:04.000\n\n"
)
ASS = (
    "[Script Info]\nTitle: x\n[Events]\nFormat: Layer, Start, End, Style, Name, Text\n"
    "Comment: 0,0:00:00.00,0:00:01.00,Default,,not said\n"
    "Dialogue: 0,0:00:01.00,0:00:02.00,Default,Ann,{\\i1}Where is it,{\\i0} then?{a pun}\\NHere.\n"
    "Dialogue: 0,0:00:01.00,0:00:02.00,Default,,{\\p1}m 0 0 l 1 1\n"
    "Dialogue: 0,0:00:02.00,0:00:03.00,Default,Bob,I do not know.\n"
)
WEBANNO = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Sense|identifier|value\n"
    "#T_RL=webanno.custom.Link|type|BT_webanno.custom.Sense\n\n\n#Text=😀 The bank shut\n"
    "1-1\t0-2\t😀\t_\t_\t_\t_\t\n1-2\t3-6\tThe\t_\t_\t_\t_\t\n"
    "1-3\t7-11\tbank\t_\tmoney\tx\t1-4\t\n1-3.1\t7-8\tb\t_\tx\t_\t_\t\n"
    "1-4\t12-16\tshut\t_\t_\t_\t_\t\n\n#Text=New York is big\n"
    "2-1\t17-20\tNew\t*[1]\tLOC[1]\t_\t_\t\n2-2\t21-25\tYork\t*[1]\tLOC[1]\t_\t_\t\n"
    "2-3\t26-28\tis\t_\t_\t_\t_\t\n2-4\t29-32\tbig\t*\t_\t_\t_\t\n"
)
ESCAPED = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.Sense|identifier|value\n\n\n"
    "#Text=Ann\\\\t sees C:\\\\new\n1-1\t0-5\tAnn\\\\t\t_\t_\t\n1-2\t6-10\tsees\t_\t_\t\n"
    "1-3\t11-17\tC:\\\\new\tPER\\|X[1]|a\\_b\\\\[2]|*[3]\t\\*[1]|\\[1\\][2]|LOC\\[a\\][3]\n"
)
LABELBOX = {
    "data_row": {"id": "r", "row_data": BANKS[0]},
    "projects": {"p": {"name": "P", "labels": [
        {"label_details": {"created_by": person}, "annotations": {
            "objects": [{"name": label, "location": {"start": 4, "end": 8}}],
            "classifications": [{"name": "mood", "radio_answer": {"name": "Sad", "value": "sad"}},
                                {"name": "of",
                                 "checklist_answers": [{"name": "a"}, {"name": "b"}]}],
            "relationships": [{"name": "x"}]}}
        for person, label in (("ann", "money"), ("bob", "river"))]}},
}  # fmt: skip
TURK = "HITId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.text,Answer.mood.label\n" + "".join(
    f'H{i},W{w},{status},31,"{BANKS[0]}, {i}",{mood}\n'
    for i in range(2)
    for w, (status, mood) in enumerate(
        [("Approved", "sad"), ("Rejected", "x"), ("Submitted", "glad")]
    )
)
TEAMS = {"@odata.context": "x", "value": [
    {"messageType": "message", "createdDateTime": "2026-01-01T00:00:00Z",
     "from": {"user": {"id": "u", "displayName": "Ann Lee"}},
     "body": {"contentType": "html", "content": "<p>Hello&nbsp;to <b>you</b></p>"}},
    {"messageType": "systemEventMessage", "createdDateTime": "2026-01-01T00:00:00Z", "from": None,
     "body": {"contentType": "html", "content": "<systemEventMessage/>"}}]}  # fmt: skip
MESSENGER = {"participants": [{"name": "Ann"}], "title": "Ann", "messages": [
    {"sender_name": "Ann", "timestamp_ms": 1, "content": "CafÃ© at noon"},
    {"sender_name": "JosÃ©", "timestamp_ms": 2, "content": "All right"},
    {"sender_name": "JosÃ©", "timestamp_ms": 3, "content": "OlÃ© to you"},
    {"sender_name": "Bob", "timestamp_ms": 2, "photos": [{"uri": "x"}]}]}  # fmt: skip
KAGGLE = (
    "Sentence #,Word,POS,Tag\nSentence: 1,New,NNP,B-geo\n,York,NNP,I-geo\n,is,VB,O\n,big,JJ,O\n"
    "Sentence: 2,Ann,NNP,B-per\n"
)
WHATSAPP = (
    "12/31/23, 11:59\u202fPM - Messages and calls are encrypted.\n"
    "12/31/23, 11:59\u202fPM - Ann: Happy new year!\nand a good one: to all\n"
    "1/1/24, 12:01\u202fAM - Bob: Same to you\n1/1/24, 12:02\u202fAM - Bob: <Media omitted>\n"
)
IPHONE = (
    "[31.12.23, 23:59:01] Ann: Guten Abend\n\nan alle\n[31.12.23, 23:59:05] ~ Bob Y: Auch so\n"
    "\u200e[31.12.23, 23:59:09] Bob Y: \u200eBild weggelassen\n"
)
ANN = (
    "T1\tMONEY 22 26\tbank\nT2\tANIMAL 4 10\tpython\nR1\tx Arg1:T1 Arg2:T2\nT3\tX 0 3;5 7\tThe y\n"
)
BRAT = {"d/a.txt": b"The python slept.\r\nOur bank shut.\r\nNo more.\r\n",
        "d/a.ann": ANN.encode(), "d/visual.conf": b"x"}  # fmt: skip
IMDB = {f"aclImdb/{split}/{label}/{i}.txt": f"A {label} film, number {i} of {split}.".encode()
        for split in ("train", "test") for label in ("pos", "neg") for i in range(2)}  # fmt: skip
NEWS = {
    f"20news-bydate-{split}/{label}/4{i}": f"On {label} no. {i}\n\nü {split}".encode("latin-1")
    for split in ("train", "test")
    for label in ("sci.space", "rec.autos")
    for i in range(2)
}


@dataclass(frozen=True)
class Case:
    """A file, and what is right for it.

    Attributes:
        kind: the reader.
        name, content: the file.
        texts: of all rows.
        words: the marked words.
        labels: the columns of labels, with their cells.
        notes: parts of the notes.
        export: what the page says; by default the tool.
    """

    kind: str
    name: str
    content: bytes
    texts: Sequence[str]
    words: Sequence[str] = ()
    labels: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    notes: Sequence[str] = ()
    export: str = ""


def message(user: str, text: str, **more: str) -> dict[str, str]:
    return {"type": "message", "user": user, "text": text, "ts": "1700000000.1", **more}


SLACK = {path: json.dumps(items).encode() for path, items in {
    "ours/users.json": [{"id": "U1", "name": "ann", "real_name": "Ann Lee"}],
    "ours/channels.json": [{"id": "C1", "name": "general", "topic": {"value": "All that we do"}}],
    "ours/general/2024-01-01.json": [
        message("U1", "Good morning to all"), message("U2", "x joined", subtype="channel_join")],
    "ours/general/2024-01-02.json": [message("U2", "Hello")],
    "ours/random/2024-01-02.json": [message("U1", "Cats!")],
}.items()}  # fmt: skip
MARKED = {"texts": BANKS, "words": ["bank", "bank"], "labels": {"label": ["money", "river", None]}}
CASES = [
    Case("label_studio", "tasks.json", json.dumps(STUDIO, indent=1).encode(), BANKS,
         ["bank", "bank"],
         {"label": ["money", "river", None], "mood": ["sad", None, None]},
         ["2 cancelled annotations were left out", "1 text with no other annotation was left out",
          "1 prediction of a model was left out", "1 result of the kind “relation” was left out"]),
    Case("label_studio", "people.json",
         jsonl([task(BANKS[0],
                     {"result": [choice("mood", "sad")], "completed_by": {"email": "a@b"}},
                     {"result": [choice("mood", "glad", "calm")], "completed_by": 2})]),
         [BANKS[0]] * 2, (), {"mood": ["sad", "glad,calm"], "annotator": ["a@b", "2"]},
         ["1 text has several annotators: each annotation is a row of its own"]),
    Case("label_studio_min", "min.json", jsonl([{
        "text": BANKS[0], "id": 1, "sense": [place(BANKS[0], "money", text="bank")], "mood": "sad",
        "annotator": 1, "annotation_id": 2, "lead_time": 3.1}]),
        [BANKS[0]], ["bank"], {"label": ["money"], "mood": ["sad"]}, ["“annotation_id”"]),
    Case("label_studio_min", "min.csv", STUDIO_CSV.encode(),
         ["The bank, it shut", "We sat on the bank"], ["bank", "bank"],
         {"label": ["money", "river"], "mood": ["sad", "good,calm"]}, ["“lead_time”"]),
    Case("prodigy", "spans.jsonl", jsonl(
        {"text": BANKS[0], "spans": [place(BANKS[0], "money")], "tokens": [], **ANSWERED},
        {"text": BANKS[1], "spans": [place(BANKS[1], "river")], **ANSWERED},
        {"text": BANKS[2], "spans": [], **ANSWERED},
        {"text": "Wrong", "spans": [], **ANSWERED, "answer": "reject"},
        {"text": "Odd", "spans": [], **ANSWERED, "answer": "ignore"}),
        notes=["1 rejected example was left out", "1 ignored example was left out"], **MARKED),
    Case("prodigy", "choices.jsonl", jsonl(
        {"text": BANKS[0], "options": [{"id": "M", "text": "Money"}], "accept": ["M"],
         "_annotator_id": "ann", **ANSWERED},
        {"text": BANKS[1], "options": [{"id": 2, "text": "River"}], "accept": [2],
         "_annotator_id": "bob", **ANSWERED}),
        BANKS[:2], (), {"label": ["M", "River"], "annotator": ["ann", "bob"]},
        ["2 people annotated"]),
    Case("doccano", "all.jsonl", jsonl(
        {"id": 1, "text": BANKS[0], "label": [[4, 8, "money"]], "Comments": ["x"]},
        {"id": 2, "text": BANKS[1], "label": [[16, 20, "river"]], "Comments": []},
        {"id": 3, "text": BANKS[2], "label": []}), notes=["“id”, “Comments”"], **MARKED),
    Case("doccano", "texts.jsonl", jsonl(
        {"id": 1, "text": BANKS[0], "label": ["sad"]},
        {"id": 2, "text": BANKS[1], "label": ["glad", "calm"]}),
        BANKS[:2], (), {"label": ["sad", "glad,calm"]}),
    Case("doccano", "entities.jsonl", jsonl(
        {"id": 1, "text": BANKS[0], "relations": [], "entities": [
            {"id": 5, "label": "money", "start_offset": 4, "end_offset": 8}]}),
        [BANKS[0]], ["bank"], {"label": ["money"]}),
    Case("argilla", "records.json", json.dumps(ARGILLA).encode(), [BANKS[0]] * 2 + [BANKS[1]], (),
         {"sense": ["money", "river", None], "annotator": ["u1", "u2", None]},
         ["1 discarded response was left out", "1 suggestion of a model was left out",
          "1 text has several annotators"]),
    Case("argilla", "twice.json", json.dumps([{"fields": {"text": BANKS[0]}, "responses": {
        "sense": [{"value": v, "user_id": "u1"} for v in "xy"]}}]).encode(), [BANKS[0]], (),
        {"sense": ["x"]}, ["1 further response of a user was left out"]),
    Case("argilla", "old.jsonl", jsonl(
        {"text": BANKS[0], "prediction": [["a", 0.4]], "annotation": "money", "status": "Default"},
        {"text": BANKS[1], "prediction": None, "annotation": None, "status": "Discarded"}),
        [BANKS[0]], (), {"label": ["money"]},
        ["1 prediction of a model was left out", "1 discarded record was left out"]),
    Case("marked_texts", "spacy.json", json.dumps(
        [[BANKS[0], {"entities": [[4, 8, "money"]]}], [BANKS[1], {"entities": [[16, 20, "river"]]}]]
    ).encode(), BANKS[:2], ["bank", "bank"], {"label": ["money", "river"]}),
    Case("marked_texts", "google.jsonl", jsonl(
        {"annotations": [{"text_extraction": {"text_segment": {"start_offset": 4, "end_offset": 8}},
                          "display_name": "money"}], "text_snippet": {"content": BANKS[0]}}),
        [BANKS[0]], ["bank"], {"label": ["money"]}),
    Case("marked_texts", "dataturks.json", jsonl(
        *({"content": text, "annotation": [{"label": ["money"], "points": [
            {"start": text.index("bank"), "end": text.index("bank") + 3, "text": "bank"}]}]}
          for text in ("The bank shut", "A bank shut", "Our bank shut"))),
        ["The bank shut", "A bank shut", "Our bank shut"], ["bank"] * 3, {"label": ["money"] * 3}),
    Case("tagged_tokens", "ner.jsonl", jsonl(
        {"id": "0", "tokens": ["New", "York", "is", "big"], "pos_tags": [1, 1, 2, 3],
         "ner_tags": ["B-LOC", "I-LOC", "O", "O"]}),
        ["New York is big"], ["New York"], {"label": ["LOC"]}, ["“pos_tags”"]),
    Case("nested_texts", "nested.jsonl", jsonl(
        {"id": 1, "doc": {"body": "The bank shut at noon", "about": {"mood": "sad"}}},
        {"id": 2, "doc": {"body": "We sat on the bank of it", "about": {"mood": "glad"}}}),
        ["The bank shut at noon", "We sat on the bank of it"]),
    Case("marked_texts", "rasa.json", json.dumps({"rasa_nlu_data": {"common_examples": [
        {"text": BANKS[0], "intent": "ask", "entities": [
            {"start": 4, "end": 8, "value": "bank", "entity": "money"}]}]}}).encode(),
         [BANKS[0]], ["bank"], {"label": ["money"], "intent": ["ask"]}),
    Case("marked_texts", "python.csv",
         b"text,spans\nThe bank shut,\"[(4, 8, 'money')]\"\nA bank shut,\"[(2, 6, 'river')]\"\n",
         ["The bank shut", "A bank shut"], ["bank"] * 2, {"label": ["money", "river"]}),
    Case("questions", "dev.json", json.dumps(SQUAD).encode(), ["What is the Oder?", "Where is it?"],
         notes=["1 further answer was left out"]),
    Case("chat_messages", "result.json", json.dumps(TELEGRAM).encode(), ["See the bank", "I did"],
         (), {"author": ["Ann", "Bob"]},
         ["1 notice of the app was left out", "1 message without a text was left out",
          "“date”"]),
    Case("subtitles", "film.srt", SRT.encode(),
         ["Where did you put the key?", "I left it on the bank of the river.", "Hurry up!",
          "I am coming at once."], notes=["1 line's style was left out", "“times”"]),
    Case("subtitles", "film.vtt", VTT.encode(), ["Hello you all"],
         notes=["1 note or style was left out", "1 cue without a text was left out"]),
    Case("conll", "a.conll", CONLL.encode(), ["New York is big", "Ann"], ["New York", "Ann"],
         {"label": ["LOC", "PER"]}, ["1 line between documents was left out", "“column 2”"]),
    Case("conll", "a.txt", re.sub(" [NVJ][A-Z]+", "", CONLL).encode(),
         ["New York is big", "Ann"], ["New York", "Ann"], {"label": ["LOC", "PER"]}),
    Case("conllu", "a.conllu", CONLLU.encode(), ["I don't swim, now."] * 4,
         ["I", "don't", "swim", "now"], {"label": ["PRON", "AUX+PART", "VERB", "ADV"]},
         ["1 empty node or broken line was left out"]),
    Case("subtitles", "film.sbv", b"0:00:01.000,0:00:02.000\nWhere is it?\n\n"
         b"0:00:02.500,0:00:03.000\nI do not\nknow.\n", ["Where is it?", "I do not know."]),
    Case("styled_subtitles", "film.ass", ASS.encode(),
         ["Where is it, then? Here.", "I do not know."], (), {"author": ["Ann", "Bob"]},
         ["1 comment was left out", "1 comment in a line was left out",
          "1 cue without a text was left out"]),
    Case("conll", "ner.csv", KAGGLE.encode(), ["New York is big", "Ann"], ["New York", "Ann"],
         {"label": ["geo", "per"]}, ["“POS”"]),
    Case("webanno", "admin.tsv", WEBANNO.encode(),
         ["😀 The bank shut", "New York is big", "New York is big"], ["bank", "New York", "big"],
         {"label": ["money", "LOC", "Sense"]},
         ["1 part of a token was left out", "1 relation was left out"]),
    Case("webanno", "escaped.tsv", ESCAPED.encode(), [r"Ann\t sees C:\new"] * 3, [r"C:\new"] * 3,
         {"label": ["PER|X, *", r"a_b\, [1]", "LOC[a]"]}),
    Case("fasttext", "train.txt", b"__label__pos I like this a lot\n__label__neg\n"
         b"__label__pos __label__long It was a long one\n",
         ["I like this a lot", "It was a long one"], (), {"label": ["pos", "pos,long"]},
         ["1 line without a text was left out"]),
    Case("labelbox", "export.ndjson", jsonl(LABELBOX), [BANKS[0]] * 2, ["bank"] * 2,
         {"label": ["money", "river"], "mood": ["Sad"] * 2, "of": ["a,b"] * 2,
          "annotator": ["ann", "bob"]},
         ["2 relations were left out", "1 text has several annotators"]),
    Case("mechanical_turk", "batch.csv", TURK.encode(),
         [f"{BANKS[0]}, {i}" for i in (0, 0, 1, 1)], (),
         {"mood": ["sad", "glad"] * 2, "annotator": ["W0", "W2"] * 2},
         ["2 rejected assignments were left out", "“WorkTimeInSeconds”", "2 people annotated"]),
    Case("training_sets", "train.jsonl", jsonl(
        {"query": "Where is it?", "pos": ["It is here"], "neg": ["A dog ran", "It rained"],
         "pos_scores": [1]}, {"query": "Why not?", "pos": ["No reason"], "neg": ["So be it"]}),
         ["Where is it?", "Where is it?", "Why not?"], notes=["“pos_scores”"]),
    Case("training_sets", "pairs.jsonl", jsonl({"texts": ["A man ate", "He ate it"], "score": 4.5},
                                               {"texts": ["A dog ran", "It sat"], "score": 1.0}),
         ["A man ate", "A dog ran"], (), {"score": ["4.5", "1.0"]}),
    Case("training_sets", "blank.jsonl", jsonl(
        {"query": "Where is it?", "pos": ["It is here", " ", ""], "neg": ["It rained"]},
        {"query": "Why not?", "pos": ["No reason"], "neg": [3, None, "So be it"]}),
        ["Where is it?", "Why not?"], (), {"negative": ["It rained", "So be it"]},
        ["4 entries without a text were left out"]),
    Case("chat_messages", "teams.json", json.dumps(TEAMS).encode(), ["Hello to you"], (),
         {"author": ["Ann Lee"]}, ["1 notice of the app was left out"]),
    Case("chat_messages", "message_1.json", json.dumps(MESSENGER).encode(),
         ["Café at noon", "All right", "Olé to you"], (),
         {"author": ["Ann", "José", "José"]},
         ["1 message without a text was left out", "were mended, guessed"]),
    Case("chat_messages", "all.json", json.dumps({"chats": {"list": [
        TELEGRAM, {**TELEGRAM, "name": "y"}]}}).encode(), ["See the bank", "I did"] * 2, (),
         {"author": ["Ann", "Bob"] * 2, "chat": ["x", "x", "y", "y"]}),
    Case("nested_texts", "nq.jsonl", jsonl(
        {"question_text": "What is the Oder?", "annotations": [{"yes_no": "NONE", "long": {}}]},
        {"question_text": "Who is it then?", "annotations": []}),
         ["What is the Oder?", "Who is it then?"], notes=["“annotations”"]),
    Case("written_chat", "chat.txt", WHATSAPP.encode(),
         ["Happy new year!\nand a good one: to all", "Same to you"], (), {"author": ["Ann", "Bob"]},
         ["1 notice of the app was left out", "1 message without a text was left out"]),
    Case("written_chat", "iphone.txt", IPHONE.encode(), ["Guten Abend\n\nan alle", "Auch so"], (),
         {"author": ["Ann", "Bob Y"]}, ["1 message without a text was left out"]),
    Case("brat", "docs.zip", zipped(BRAT), ["The python slept.", "Our bank shut.", "No more."],
         ["python", "bank"], {"label": ["ANIMAL", "MONEY", None]},
         ["1 relation was left out", "1 mark in several pieces was left out", "“d/visual.conf”",
          "Places count characters, each line break of two as one"]),
    Case("folder", "aclImdb.zip", zipped({**IMDB, "aclImdb/README": b"x"}),
         [text.decode() for text in IMDB.values()], (),
         {"label": ["pos", "pos", "neg", "neg"] * 2, "split": ["train"] * 4 + ["test"] * 4},
         ["1 file beside the texts was left out", "“aclImdb/README”"]),
    Case("files", "slack.zip", zipped(SLACK), ["Good morning to all", "Hello", "Cats!"], (),
         {"author": ["Ann Lee", "U2", "Ann Lee"], "folder": ["general", "general", "random"]},
         ["1 notice of the app was left out", "1 file of another kind was left out",
          "“ours/channels.json”"], "chats, 3 files"),
    Case("files", "doccano.zip", zipped({
        f"{person}.jsonl": jsonl({"id": 1, "text": BANKS[0], "label": [[4, 8, label]]},
                                 {"id": 2, "text": BANKS[2], "label": []})
        for person, label in (("ann", "money"), ("bob", "river"))}),
         [BANKS[0], BANKS[2]] * 2, ["bank"] * 2,
         {"label": ["money", None, "river", None], "annotator": ["ann"] * 2 + ["bob"] * 2},
         ["a file is a person's; each annotation is a row"], "doccano, 2 files"),
    Case("files", "tasks.zip", zipped({
        "__MACOSX/t/._1.json": b"x", "t/a.json": json.dumps(STUDIO[:1]).encode(),
        "t/b.json": json.dumps(STUDIO[1:]).encode()}), BANKS, ["bank", "bank"],
         {"label": ["money", "river", None], "file": ["a", "b", "b"]}, (),
         "Label Studio, 2 files"),
    Case("files", "snli.zip", zipped({
        "snli/snli_train.jsonl": jsonl({"text": "A man eats", "file": "x"}) + b"\n{broken",
        "snli/snli_test.jsonl": jsonl({"text": "A man ate", "file": "y", "label": "no"})}),
         ["A man eats", "A man ate"], (), {"split": ["train", "test"], "file": ["x", "y"]},
         ["snli/snli_train.jsonl: 1 line is no JSON object"], "JSON, 2 files"),
    Case("folder", "news.zip", zipped(NEWS), [t.decode("latin-1") for t in NEWS.values()], (),
         {"label": (["sci.space"] * 2 + ["rec.autos"] * 2) * 2,
          "split": ["train"] * 4 + ["test"] * 4}, ["8 files were read as Latin-1"]),
]  # fmt: skip


def marked_words(table: Table) -> list[str]:
    """The word that each row marks, by the guessed columns."""
    (marks,) = guess_marks(table, table.text_column)
    if not marks:
        return []
    texts = table.columns[table.text_column]
    spans = targets_of(table.columns, texts, marks).spans
    return [(t or "").strip()[slice(*s)] for t, s in zip(texts, spans, strict=True) if s]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind}-{case.name}")
def test_the_texts_marks_and_labels_of_a_tool_are_read(case: Case) -> None:
    table = read(case.name, case.content, max_bytes=MAX)
    assert table.export == (case.export or EXPORTS[case.kind].tool)
    assert list(table.columns[table.text_column]) == list(case.texts)
    assert marked_words(table) == list(case.words)
    labels = label_columns(table)
    for title, cells in case.labels.items():
        assert list(table.columns[title]) == list(cells)
        assert title in labels
    assert "word" not in labels
    for part in case.notes:
        assert any(part in note for note in table.notes), (part, table.notes)
    assert not any(cell.startswith(("{", "[")) for cells in table.columns.values()
                   for cell in cells if cell)  # fmt: skip


def test_every_reader_has_a_case() -> None:
    assert {case.kind for case in CASES} == set(EXPORTS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_guess_of_a_tool_can_be_refused(case: Case) -> None:
    table = read(case.name, case.content, max_bytes=MAX)
    assert not table.is_clear  # the page shows its first rows before it uses it
    if case.name == "news.zip":  # its files have no extension by which they could be read
        assert not table.content
        return
    plain = read(table.name, table.content, max_bytes=MAX, form="plain")
    assert (plain.export, plain.name) == ("", case.name)
    assert plain.n_rows


def test_a_list_in_a_large_object_is_read_in_steps() -> None:
    (article,) = SQUAD["data"]
    (paragraph,) = article["paragraphs"]
    long = {**paragraph, "context": "The Oder is a river. " * 1_000}
    article = {**article, "paragraphs": [long] * 180}
    for rest in ({}, {"version": "2"}):
        content = json.dumps({"about": {"n": [1]}, "data": [article] * 3, **rest}).encode()
        assert len(content) > 10_000_000
        table = read("train.json", content, max_bytes=MAX)
        assert (table.export, table.n_rows) == ("SQuAD", 1_080)
        assert "Only the list “data” was read. Not read: “about”." in table.notes
        assert ("What follows “data” was left out." in table.notes) == bool(rest)


def test_of_a_large_chat_its_messages_are_read_and_not_its_participants() -> None:
    people = [{"name": "Ann"}, {"name": "Bob"}]
    said = [{"sender_name": "Ann", "timestamp_ms": 1, "content": f"Good morning {i} " + "a" * 900}
            for i in range(12_000)]  # fmt: skip
    content = json.dumps({"participants": people, "title": "x", "messages": said, "is": 1}).encode()
    table = read("message_1.json", content, max_bytes=MAX)
    assert table.n_rows == len(said)
    assert "Only the list “messages” was read. Not read: “participants”, “title”." in table.notes
    few = {"participants": people, "rows": said[:9], **{f"k{i}": "a" * 1_500_000 for i in range(8)}}
    table = read("a.json", json.dumps(few).encode(), max_bytes=MAX)
    assert table.n_rows == 9
    others = "“participants”, “k0”, “k1”, “k2”, “k3”, …"
    assert f"Only the list “rows” was read. Not read: {others}." in table.notes
    cut = json.dumps({"rows": said[:9], "k": "a" * 11_000_000}).encode()
    table = read("a.json", cut, max_bytes=MAX)
    assert "What follows “rows” was left out." in table.notes


def test_files_beyond_the_number_or_the_time_for_them_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = {f"{name}.jsonl": jsonl({"text": f"The bank {name}"}) for name in "abcde"}
    monkeypatch.setattr(reading, "_MAX_FILES", 4)
    table = read("a.zip", zipped(lines), max_bytes=MAX)
    assert (table.n_rows, table.export) == (4, "JSON, 4 files")
    assert table.notes == ("1 file beyond the first 4 was left out.",)
    now = iter(range(0, 1_000, 10))
    monkeypatch.setattr(reading, "time", SimpleNamespace(monotonic=lambda: next(now)))
    monkeypatch.setattr(reading, "_SECONDS", 25)
    table = read("a.zip", zipped(lines), max_bytes=MAX)
    assert table.n_rows == 2
    assert table.notes == ("3 files beyond the first 2 were left out.",)


def test_users_of_a_chat_are_read_or_said_not_to_be() -> None:
    days = {f"general/2020-01-0{i}.json": json.dumps(
        [{"type": "message", "user": "U1", "text": f"Hello to you {i}", "ts": "1.0"}]
    ).encode() for i in (1, 2)}  # fmt: skip
    users = json.dumps([{"id": "U1", "real_name": "Ann"}]).encode()
    table = read("s.zip", zipped({"users.json": users, **days}), max_bytes=MAX)
    assert (table.columns["author"], table.notes) == (("Ann", "Ann"), ("Not read: “ts”.",))
    table = read("s.zip", zipped({"users.json": b"\x00\xff" * 99, **days}), max_bytes=MAX)
    assert table.columns["author"] == ("U1", "U1")
    assert "Not read: “users.json”, “ts”." in table.notes


def test_lists_in_parquet_are_read_as_in_json() -> None:
    stream = io.BytesIO()
    spans = [[place(BANKS[0], "money")], [place(BANKS[1], "river")]]
    pd.DataFrame({"text": BANKS[:2], "spans": spans}).to_parquet(stream)
    table = read("a.parquet", stream.getvalue(), max_bytes=MAX)
    assert marked_words(table) == ["bank", "bank"]
    assert table.columns["label"] == ("money", "river")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("poem.txt", b"12 to 13, I went on\nand on: to town\n\nI came - back\n"),
        ("a.txt", b"The - O\nbank O\nshut O\n"),
        ("labels.jsonl", jsonl({"text": "The bank shut at noon", "labels": ["a", "b"]})),
        ("boxes.jsonl", jsonl({"text": "The bank shut at noon", "scores": [1, 2]})),
        ("tweets.jsonl", jsonl(
            {"target": 4, "date": "2009-04-06", "user": "ann", "text": "A good day to you"})),
        ("reviews.json", json.dumps([
            {"author": "a", "date": "2020", "content": f"A good film, {i}", "type": kind}
            for i, kind in enumerate(["neg", "pos", 0, "0"])]).encode()),
        ("tables.zip", zipped({"train/text.csv": b"a", "test/text.csv": b"b"})),
        ("lists.zip", zipped({f"{s}/{n}.txt": b"a" for s in ("train", "test") for n in "xy"})),
    ],
)  # fmt: skip
def test_other_files_are_none_of_a_tool(name: str, content: bytes) -> None:
    try:
        table = read(name, content, max_bytes=MAX)
    except CorpusError as exc:
        assert "one can be read at a time" in str(exc)  # noqa: PT017
    else:
        assert table.export == ""


def doccano(*labels: object) -> bytes:
    return jsonl(*({"id": i, "text": f"Anna came to Paris {i}", "label": label}
                   for i, label in enumerate(labels)))  # fmt: skip


PLACES = [[0, 4, "P"], [13, 18, "L"]]
CHOSEN = [task(f"The bank shut {i}", {"result": [
    {"type": "labels", "from_name": "sense", "value": {"start": 4, "end": 8, "labels": ["money"]}},
] if i >= 50 else [choice("label", "sad")]}) for i in range(60)]  # fmt: skip
BAD = {"type": "labels", "from_name": "label", "value": {"start": 5, "end": 5, "labels": ["X"]}}


@pytest.mark.parametrize(
    ("name", "content", "n_marks", "n_bad"),
    [
        ("a.jsonl", doccano(*[PLACES] * 4, [[5, 5, "X"]]), 8, 1),
        ("a.jsonl", doccano(*[[]] * 50, *[PLACES] * 10), 20, 0),
        ("a.jsonl", doccano(*[["P"]] * 50, [], *[PLACES] * 9), 18, 0),
        ("a.jsonl", doccano(*[PLACES] * 54, [*PLACES, [5, 5, "X"]], *[PLACES] * 5), 120, 1),
        ("a.jsonl", jsonl(*({"text": f"Anna came {i}", "spans": [[0, 4, "P"]] if i > 70 else []}
                            for i in range(80))), 9, 0),
        ("a.jsonl", jsonl(*CHOSEN), 10, 0),
        ("a.jsonl", jsonl(*CHOSEN, task(BANKS[0], {"result": [BAD]})), 10, 1),
        ("a.csv", b"text,spans\n" + b"".join(
            b'Anna came to us,"' + (b"[(0, 4, 'P'), (5, 5, 'X')]" if i > 60 else b"[]") + b'"\n'
            for i in range(80)), 19, 19),
    ],
)  # fmt: skip
def test_a_place_that_is_none_costs_no_other_and_late_marks_are_read(
    name: str, content: bytes, n_marks: int, n_bad: int
) -> None:
    table = read(name, content, max_bytes=MAX)
    assert len(marked_words(table)) == n_marks
    assert set(table.columns["label"]) - {None} <= {"P", "L", "money"}
    notes = " ".join(table.notes)
    assert [int(n) for n in re.findall(r"(\d+) places? that", notes)] == [n_bad] * (n_bad > 0)
    assert "“label”" not in notes
    assert "“spans”" not in notes


OWN = {"text": "a note here", "start": "2020", "word": "w", "label": "sad", "text label": "old"}


def test_columns_of_the_file_never_replace_a_text_or_a_mark() -> None:
    items = [{"sentence": "Anna came to Paris", **OWN, "spans": spans}
             for spans in ([[0, 4, "P"]], [])]  # fmt: skip
    table = read("a.json", json.dumps(items).encode(), max_bytes=MAX)
    assert table.text_column == "text"
    assert {title: cells[0] for title, cells in table.columns.items()} == {
        "text": "Anna came to Paris", "start": "0", "end": "4", "label": "P",
        "other text": "a note here", "text start": "2020", "text word": "w", "text label": "sad",
        "text text label": "old"}  # fmt: skip
    assert marked_words(table) == ["Anna"]
    (other,) = read("b.jsonl", jsonl({**STUDIO[0], "data": {"text": BANKS[0], "mood": "m"}}),
                    max_bytes=MAX).head(1)  # fmt: skip
    assert (other["mood"], other["mood (annotated)"]) == ("m", "sad")


NOBODY: list[dict[str, Any]] = [
    {"fields": {"text": BANKS[0]}, "responses": {
        "sense": [{"value": v, "user_id": None} for v in "xyz"]}},
    {"fields": {"text": BANKS[0]}, "responses": [
        {"values": {"sense": {"value": v}}, "status": "submitted"} for v in "xyz"]},
    {"text": BANKS[0], "sense.responses": ["x", "y", "z"]},
    {"text": BANKS[0], "sense": [{"value": v} for v in "xyz"], "sense-suggestion": None},
]  # fmt: skip


@pytest.mark.parametrize("item", NOBODY)
def test_responses_without_a_user_are_apart(item: Mapping[str, Any]) -> None:
    table = read("a.json", json.dumps([item]).encode(), max_bytes=MAX)
    assert table.columns["sense"] == ("x", "y", "z")
    assert table.columns["annotator"] == ("response 1", "response 2", "response 3")
    assert table.annotators == "apart"


def test_columns_of_the_file_never_replace_a_text_to_train_on() -> None:
    items = [{"set": ["A man ate", "He ate it"], "text1": "mine", "anchor": "x"},
             {"set": ["A dog ran", "It ran", "It sat"], "text1": "yours"}]  # fmt: skip
    table = read("a.jsonl", jsonl(*items), max_bytes=MAX)
    assert dict(table.columns) == {
        "text1": ("A man ate", None), "text2": ("He ate it", None),
        "anchor": (None, "A dog ran"), "positive": (None, "It ran"), "negative": (None, "It sat"),
        "text1 (in the file)": ("mine", "yours"), "anchor (in the file)": ("x", None)}  # fmt: skip


DEEP = json.loads("[" * 500 + "]" * 500)


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (jsonl(*({"_index": "a", "_id": str(i), "_source": {"text": t}}
                 for i, t in enumerate(BANKS))), BANKS),
        (json.dumps([{"_text": t, "meta": {"a": 1}} for t in BANKS]).encode(), BANKS),
        (jsonl(*({"text": t, "meta": {"a": 1}, "x": DEEP} for t in BANKS)), BANKS),
        (json.dumps({"messages": [{"type": "message", "ts": 1, "user": "A", "text": t} for t in (
            [DEEP, "The bank ", *["a"] * 1_001], [{"text": "is "}, {"text": {"a": 1}}, "shut"])]}
        ).encode(), ["The bank " + "a" * 1_001, "is shut"]),
    ],
)  # fmt: skip
def test_common_and_deep_json_keeps_its_texts(content: bytes, texts: list[str]) -> None:
    table = read("a.json", content, max_bytes=MAX)
    assert list(table.columns[table.text_column]) == texts


def test_files_and_columns_of_a_file_are_its_own() -> None:
    files = {"a.txt": b"The python slept", "a.ann": b"T1\tANIMAL 4 10\tpython",
             "A.TXT": b"Another text"}  # fmt: skip
    table = read("a.zip", zipped(files), max_bytes=MAX)
    assert table.columns["text"] == ("The python slept", "Another text")
    assert marked_words(table) == ["python"]
    spans = [{"text": BANKS[0], "annotator": "ann", "spans": [[4, 8, "M"]]}] * 2
    assert read("a.jsonl", jsonl(*spans), max_bytes=MAX).columns["annotator"] == ("ann", "ann")
    people = [{"text": t, "_annotator_id": "ann", "spans": [], **ANSWERED} for t in BANKS]
    table = read("a.jsonl", jsonl(*people), max_bytes=MAX)
    assert "annotator" not in table.columns
    assert any("Only one annotator is named" in note for note in table.notes)


WIDE = {f"t{i}": f"Our bank {i}" for i in range(4_000)}
HOSTILE = {
    "titles.jsonl": jsonl({**WIDE, "spans": [[4, 8, "M"]] * 4_000}),
    "cell.csv": b'text,spans\nOur bank shut,"[' + b"(4, 8, 'M'), " * 100_000 + b']"\n',
    "lines.zip": zipped({"a.txt": b"a b\n" * 30_000,
                         "a.ann": b"".join(b"T%d\tX %d 119999\tb\n" % (i, i)
                                           for i in range(9_000))}),
    "keys.jsonl": jsonl({"text": "Our bank", "spans": [
        {"start": 4, "end": 8, **{f"k{i}": {f"m{i}": 1} for i in range(5_000)}}]}),
    "choices.jsonl": jsonl(task(BANKS[0], {"result": [
        {**result(BANKS[0], "money")},
        *({**choice(f"c{i}", "x"), "id": "a"} for i in range(900)),
        *({**choice("mood", "x"), "id": "b"} for i in range(30_000))]})),
    "lists.json": json.dumps(
        {"": "a" * 7_000_000, **{str(i): [1] for i in range(300_000)}}).encode(),
    "deep.zip": zipped({**{f"{i}.json": b'{"text": "a b"}' for i in range(4_000)},
                        "a/" * 30_000 + "x.json": b"{}"}),
    "titles.zip": zipped({f"{i}.csv": ",".join(f"t{i}_{k}" for k in range(900)).encode()
                          + b"\n" + b"a b," * 899 + b"c\n" for i in range(200)}),
    "range.conllu": b"1-999999999\tx\t_\t_\n" + b"1\ta\ta\tX\n" * 50_000,
    "range.2.conllu": b"1-2\tx\t_\t_\n" + b"1\ta\ta\tX\n" * 50_000,
}  # fmt: skip


REFUSED = {"titles.jsonl": "more than 1,000 different keys", "lists.json": "one JSON object",
           "deep.zip": "holds 4,001 files", "titles.zip": "holds 200 files"}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_the_time_of_a_file_grows_with_its_size(name: str) -> None:
    begin = time.process_time()
    if name in REFUSED:
        with pytest.raises(CorpusError, match=REFUSED[name]):
            read(name, HOSTILE[name], max_bytes=MAX)
    else:
        assert read(name, HOSTILE[name], max_bytes=MAX).n_rows
    assert time.process_time() - begin < 5


def test_a_file_of_which_nothing_is_left_says_why() -> None:
    given = jsonl({"text": "Wrong", "spans": [], **ANSWERED, "answer": "reject"})
    with pytest.raises(CorpusError, match=r"holds no text to read\. 1 rejected example was"):
        read("a.jsonl", given, max_bytes=MAX)


# --- Any file of these kinds

WORDS = st.sampled_from(["bank", "A bank shut", "🎉 Our é\r\nshut", "", " ", "O", "B-X", "accept"])
KEYS = st.sampled_from([
    *("data", "text", "annotations", "result", "value", "start", "end", "labels", "label", "type"),
    *("choices", "was_cancelled", "annotation_id", "lead_time", "answer", "spans", "options"),
    *("_task_hash", "id", "entities", "fields", "responses", "status", "tokens", "ner_tags"),
    "cats",
    *("annotation", "prediction", "paragraphs", "context", "qas", "question", "answers"),
    *("date", "from", "label.responses", "label.responses.users", "label-suggestion", "offset"),
    *("length", "messages", "accept", "chats", "list", "value", "data_row", "row_data"),
    *("projects", "objects", "location", "classifications", "query", "pos", "neg", "texts"),
])  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 30) | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


def objects(case: Case) -> Any:
    """The value of a file of JSON, or those of its lines."""
    text = case.content.decode()
    try:
        return json.loads(text)
    except ValueError:
        return list(map(json.loads, text.split("\n")))


@st.composite
def bent(draw: Any) -> list[Any]:
    """The objects of a case with some values replaced by any others."""
    case = draw(st.sampled_from([own for own in CASES if own.name.endswith(("json", "jsonl"))]))
    items = objects(case)
    items = items if isinstance(items, list) else [items]
    holder: Any = items
    for _ in range(draw(st.integers(1, 6))):
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            break
        key = draw(st.sampled_from(keys))
        if isinstance(holder[key], dict | list) and draw(st.integers(0, 3)):
            holder = holder[key]
        else:
            holder[key] = draw(VALUES)
            holder = items
    return items


LINES = st.lists(
    st.sampled_from([*SRT.splitlines(), *VTT.splitlines(), *CONLL.splitlines(), "", "\u200e",
                     *CONLLU.splitlines(), *WHATSAPP.splitlines(), *IPHONE.splitlines(), "# O",
                     *WEBANNO.splitlines(), *ASS.splitlines(), *KAGGLE.splitlines(), "__label__x",
                     "2-1\tx\tx\tX", "1\t\t\tX", "a\tb\tc\td", "00:01.000 --> 00:02.000"]),
    max_size=12,
).map(lambda lines: "\n".join(lines).encode())  # fmt: skip
ZIPS = st.dictionaries(
    st.sampled_from(["a.txt", "a.ann", "d/b.txt", "d/b.ann", "e/c.txt", "e/f/g.txt", "e/f/h",
                     "a.json", "d/b.json", "e/c.jsonl", "users.json", "e/f/a.srt", "d/c.conll"]),
    st.sampled_from([*BRAT.values(), *SLACK.values(), json.dumps(STUDIO).encode(), SRT.encode(),
                     b"", b"\0\0", b"\xff\xfe", b"T1\tX 5 2\ta\nT2\tX 1 900\t\nT"]),
    min_size=1, max_size=6,
).map(zipped)  # fmt: skip
FILES = st.one_of(
    st.tuples(st.sampled_from([".json", ".txt"]), (bent() | st.lists(st.dictionaries(KEYS, VALUES),
              max_size=4)).map(lambda items: json.dumps(items).encode())),
    st.tuples(st.just(".jsonl"), (bent() | st.lists(st.dictionaries(KEYS, VALUES), max_size=4)).map(
              lambda items: jsonl(*items))),
    st.tuples(st.sampled_from([".srt", ".vtt", ".conll", ".conllu", ".iob", ".txt", ".tsv",
                                ".ass", ".sbv", ".csv"]),
              LINES | st.binary(max_size=60)),
    st.tuples(st.just(".zip"), ZIPS),
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(FILES)
def test_any_file_of_these_kinds_is_a_corpus_or_one_sentence(file: tuple[str, bytes]) -> None:
    ending, content = file
    try:
        table = read(f"a{ending}", content, max_bytes=1_000_000)
        corpus = to_corpus(table, table.text_column, label_columns(table))
        words = marked_words(table)
    except CorpusError as exc:
        assert str(exc).isprintable()  # noqa: PT017
        assert str(exc).rstrip().endswith(".")  # noqa: PT017
        return
    assert {len(cells) for cells in table.columns.values()} == {table.n_rows}
    assert all(text.strip() for text in corpus.texts)
    assert all(words)
    for text in (*table.notes, *table.left_out, *corpus.notes):
        assert text.encode().decode().endswith(".")
        assert len(text) < 3_000


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["accept", "reject", "ignore"]), min_size=1, max_size=9))
def test_nothing_vanishes_uncounted(answers: list[str]) -> None:
    items = [{"text": f"Our bank {i}", "spans": [], **ANSWERED, "answer": answer}
             for i, answer in enumerate(answers)]  # fmt: skip
    try:
        table = read("a.jsonl", jsonl(*items), max_bytes=MAX)
        n_rows, notes = table.n_rows, " ".join(table.notes)
    except CorpusError as exc:
        n_rows, notes = 0, str(exc)
    counted = [int(n) for n in re.findall(r"(\d+) (?:rejected|ignored) example", notes)]
    assert n_rows + sum(counted) == len(answers)


# --- 100,000 rows of each kind


def many(kind: str, n: int) -> tuple[str, bytes]:
    """A file with so many texts."""
    text = "We sat on the bank of river {0}"
    if kind == "folder":
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for i in range(n):
                archive.writestr(f"d/{i % 7}/{i}.txt", text.format(i))
        return "a.zip", stream.getvalue()
    if kind == "files":
        days = {f"a/c{i % 30}/{i}.json": json.dumps(
            [message("U1", text.format(i)) for _ in range(50)]).encode()
            for i in range(n // 50)}  # fmt: skip
        return "a.zip", zipped(days)
    if kind == "brat":
        lines = [text.format(i) for i in range(n)]
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        ann = [f"T{i}\tX {a + 14} {a + 18}\tbank" for i, a in enumerate(starts[:-1])]
        files = {"a.txt": "\n".join(lines), "a.ann": "\n".join(ann)}
        return "a.zip", zipped({path: written.encode() for path, written in files.items()})
    if kind == "styled_subtitles":
        (_, *said), head = ASS.splitlines()[5:], ASS.splitlines()[:4]
        return "a.ass", "\n".join([*head, *said[-1:] * n]).encode()
    if kind == "webanno":
        head, sentence = WEBANNO.split("\n\n\n")[0], WEBANNO.split("\n\n")[-1]
        return "a.tsv", "\n\n".join([head, *[sentence.rstrip("\n")] * n]).encode()
    if kind == "fasttext":
        return "a.txt", "\n".join(f"__label__a {text.format(i)}" for i in range(n)).encode()
    if kind == "mechanical_turk":
        head, first, *_ = TURK.splitlines()
        return "a.csv", "\n".join(
            [head, *(first.replace("H0", f"H{i}") for i in range(n))]
        ).encode()
    if kind == "subtitles":
        cue = "{0}\n00:00:01,000 --> 00:00:02,000\n" + text + "\n"
        return "a.srt", "\n".join(cue.format(i) for i in range(n)).encode()
    if kind == "written_chat":
        lines = [f"1/1/24, 10:00 - Ann: {text.format(i)}" for i in range(n)]
        return "a.txt", "\n".join(lines).encode()
    if kind == "conll":
        return "a.conll", "\n\n".join(f"We O\nsat O\nbank B-X\n{i} O" for i in range(n)).encode()
    if kind == "conllu":
        lines = [f"1\tbank\tbank\tNOUN\n2\t{i}\t{i}\tPUNCT" for i in range(n)]
        return "a.conllu", "\n\n".join(lines).encode()
    endings = (".json", ".jsonl", ".ndjson")
    case = next(own for own in CASES if own.kind == kind and own.name.endswith(endings))
    one = objects(case)
    item = one[0] if isinstance(one, list) else one
    if kind == "questions":
        (article,) = one["data"]
        return "a.json", json.dumps({"data": [article] * (n // 20)}).encode()
    if kind == "chat_messages":
        return "a.json", json.dumps({**one, "messages": one["messages"][:1] * (n // 10)}).encode()
    written = json.dumps(item)
    items = ",".join(written.replace("at noon", f"at noon {i}") for i in range(n))
    return "a.json", f"[{items}]".encode()


@pytest.mark.slow
@pytest.mark.parametrize("kind", EXPORTS)
def test_a_hundred_thousand_texts_are_read_within_bounds(kind: str) -> None:
    """In seconds of the processor, and in no more memory than the file may have."""
    name, content = many(kind, 100_000)
    begin = time.process_time()
    table = read(name, content, max_bytes=100_000_000, max_held=300_000_000)
    seconds = time.process_time() - begin
    assert table.format.endswith("chats" if kind == "files" else EXPORTS[kind].tool)
    assert table.n_rows >= (10_000 if kind in {"questions", "chat_messages"} else 100_000)
    assert table.n_bytes < 300_000_000 + len(content) + 1_000
    assert seconds < 60
