"""Tries an untrusted tokenizer in a process of its own, limited in memory and time, before use.

A tokenizer.json is a small program: rules that change a text, cut it, and put tokens around it.
Twenty rules of a few letters turn one character into a million, a pattern can run for ever, and a
single ID of four billion allocates a list of that length. Only running it shows what it does, so it
runs here first: on ordinary and odd texts, and on strings from its own rules. This file is both the
parent, which remembers each verdict by the tokenizer file's checksum, and the script that the child
runs. It therefore imports nothing of ours and, above all, not torch.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["LARGEST_ID", "MAX_PIECE_LENGTH", "RefusedError", "try_tokenizer"]

LARGEST_ID = 999_999  # each ID up to this gets a row of the vocabulary
MAX_PIECE_LENGTH = 512  # characters
_MAX_WORD_LENGTH = 256  # characters of a word that WordPiece cuts, in cubic time
_MAX_STRING_LENGTH = 512  # characters that a rule looks for or inserts
_MAX_PADDING_LENGTH = 100_000  # tokens that the file itself pads to
_MAX_AROUND = 16  # tokens around a text
_GROWTH = 24  # characters that one may become: some compatibility forms become 18 letters
_BYTES = 4  # bytes of a character at most, each of which may become a token
_SPARE = 1000
_MAPPED_BYTES = 128  # of one entry in a table of characters

_MEGABYTES, _MEGABYTES_EACH = 768, 48  # for any, and per megabyte of file: 1.25 times the need
_MAX_MEGABYTES = 3072
_SECONDS, _SECONDS_EACH = 10, 0.75  # of processor time
_TEXT_SECONDS = 1.0  # of processor time, on one text
_WAIT = 3  # elapsed seconds for each of processor time, as other programs run too
_PASSED = "passed"

_ODD = (
    "a",
    "",
    "The cat's \u201csat\u201d, 12,345.67 x\u00b2 \u00e9e\u0301 \u4f60\u597d \ud55c\uad6d\uc5b4 "
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629 \U0001f469\u200d\U0001f4bb\U0001f1e9\U0001f1ea "
    "\ufdfa\u0130\ufb03\u1e9e",
    "\x00\x01\t\r\n\u00a0\u00ad\u200b\u200e\u202e\u2028\ufeff\ufffd\uffff\U0010ffff",
    "\u0301" * 300,
    "[CLS] [SEP] [MASK] <s> </s> <pad> <unk> ##a \u2581a \u0120a",
)
_SIGNS = (range(1, 0x3400, 4), range(0x3400, 0xD800, 64), range(0xF900, 0x10000, 4))  # tried alone
_UNITS = (*"a 0!", "\u00e9", "\u4f60", "\ufdfa", "\U0001f600", "aB1! ", "\u0301", "\n")  # repeated
_LENGTHS = (1_000, 20_000)  # of texts: growth shows in the first, quadratic time in the second
_PATTERN_LENGTH = 60_000  # of texts for one of the file's own patterns
_MAX_PARTS = 64  # of the file's patterns

_ID_REFUSED = "it gives a token the ID {}; at most {:,} is allowed"
_STRING_REFUSED = "one of its rules has a string of {:,} characters; at most {} are allowed"
_MAP_REFUSED = "its table of characters makes {:,} bytes of one; at most {} are allowed"

_log = logging.getLogger("contextlens")
_one_at_a_time = threading.Lock()
_verdicts: dict[str, str | None] = {}


class RefusedError(Exception):
    """The reason why a tokenizer is not used, in words that follow a colon."""


# The parent


def try_tokenizer(path: Path) -> None:
    """Check that a tokenizer loads and cuts texts within limits; each file is tried once.

    Args:
        path: a tokenizer.json that does not change meanwhile.

    Raises:
        RefusedError: the tokenizer fails or exceeds a limit.
    """
    data = path.read_bytes()
    checksum = hashlib.sha256(data).hexdigest()
    with _one_at_a_time:
        if checksum not in _verdicts:
            _verdicts[checksum] = _run_child(path, len(data) / 1_000_000)
        refusal = _verdicts[checksum]
    if refusal is not None:
        raise RefusedError(refusal)


def _run_child(path: Path, megabytes: float) -> str | None:
    """Return the reason for a refusal, or None."""
    seconds = int(_SECONDS + _SECONDS_EACH * megabytes)
    memory = int(min(_MEGABYTES + _MEGABYTES_EACH * megabytes, _MAX_MEGABYTES))
    one_thread = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    try:
        child = subprocess.run(
            [sys.executable, "-P", __file__, str(path), str(memory), str(seconds)],
            env={**os.environ, **one_thread, "RUST_BACKTRACE": "0"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds * _WAIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it took longer than {seconds * _WAIT:.0f} seconds over a short trial"
    except OSError as exc:
        raise RefusedError(f"no process could be started to try it ({exc.strerror})") from exc
    if verdict := child.stdout.decode(errors="replace").strip():
        return None if verdict == _PASSED else verdict
    _log.warning("The trial of a tokenizer ended with %s", child.returncode)
    if child.returncode == -getattr(signal, "SIGPROF", 0):
        return f"it takes more than {_TEXT_SECONDS:.0f} second over one text of the trial"
    return (
        f"in a trial with {memory:,} MB of memory and {seconds} seconds its process did not come "
        "to a good end"
    )


# The child


def _main() -> None:
    """Try the tokenizer that the arguments name: path, megabytes, seconds."""
    path, megabytes, seconds = sys.argv[1], *map(int, sys.argv[2:4])
    with suppress(ImportError):  # not on Windows, where only the total time is limited
        import resource

        memory = megabytes * 1_000_000
        for name, most in (("AS", memory), ("DATA", memory), ("CPU", seconds), ("CORE", 0)):
            with suppress(ValueError, OSError):  # some systems know a limit but refuse to set it
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    verdict = _PASSED
    try:
        _try(path)
    except RefusedError as exc:
        verdict = str(exc)
    except MemoryError:
        verdict = "it takes more memory than a tokenizer of its size needs"
    except BaseException as exc:  # noqa: BLE001 - a Rust panic is not an Exception
        verdict = f"it cannot be read or fails on a text ({ascii(str(exc))[1:100]})"
    print(verdict, flush=True)
    os._exit(0)  # skip cleaning up


def _try(path: str) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(path)
    pieces = tokenizer.get_vocab()
    _check_vocabulary(pieces, tokenizer.model)
    for texts in (("",), ("a", "b")):  # with the file's own padding and truncation
        _start_text()
        n_tokens = len(tokenizer.encode(*texts).ids)
        _limit(n_tokens, _MAX_PADDING_LENGTH, "it pads texts to more than {1:,} tokens")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    strings, patterns = _strings_of(tokenizer)
    _start_text()
    for sign in (chr(code) for codes in _SIGNS for code in codes):
        _normalize(tokenizer, sign)
    for text in (*_ODD, *strings):
        _check(tokenizer, text)
        _normalize(tokenizer, text * 50)
    _check(tokenizer, "a", "b")
    for length in _LENGTHS:
        for unit in _UNITS:
            _check(tokenizer, unit * (length // len(unit)))
    for text in _texts_for(patterns):  # long ones, and no pattern looks at their tokens
        _start_text()
        text = _normalize(tokenizer, text)
        if tokenizer.pre_tokenizer is not None:
            tokenizer.pre_tokenizer.pre_tokenize_str(text)
        if tokenizer.decoder is not None:
            tokenizer.decoder.decode([text])
    _start_text()
    _check_decoded(tokenizer, list(pieces.values()), sum(map(len, pieces)))


def _start_text() -> None:
    """Start the time limit for one text; the process ends when it is exceeded."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, _TEXT_SECONDS)


def _limit(value: int, most: int, refusal: str) -> None:
    """Refuse a value above a limit, in a sentence with places for both."""
    if value > most:
        raise RefusedError(refusal.format(value, most))


def _check_vocabulary(pieces: dict[str, int], model: Any) -> None:
    if not pieces:
        raise RefusedError("its vocabulary is empty")
    if getattr(model, "dropout", None):
        raise RefusedError("it cuts words by chance (dropout), a different way each time")
    _limit(max(pieces.values()), LARGEST_ID, _ID_REFUSED)
    longest = max(map(len, pieces))
    _limit(longest, MAX_PIECE_LENGTH, "it has a token of {:,} characters; at most {} are allowed")
    longest = getattr(model, "max_input_chars_per_word", 1)
    _limit(
        longest, _MAX_WORD_LENGTH, "it cuts words of up to {:,} characters; at most {} are allowed"
    )


def _strings_of(tokenizer: Any) -> tuple[list[str], list[str]]:
    """The strings that the tokenizer's rules look for or insert, and their patterns."""
    strings: set[str] = set()
    patterns: set[str] = set()
    for part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        if (rules := getattr(tokenizer, part)) is None:
            continue
        for name, text in _texts_in("", json.loads(rules.__getstate__())):
            if name == "precompiled_charsmap":
                # SentencePiece's table: the trie's length, the trie, zero-ended replacements.
                data = base64.b64decode(text)
                texts = data[4 + int.from_bytes(data[:4], "little") :].split(b"\0")
                _limit(max(map(len, texts)), _MAPPED_BYTES, _MAP_REFUSED)
            else:
                _limit(len(text), _MAX_STRING_LENGTH, _STRING_REFUSED)
                (patterns if name == "Regex" else strings).add(text)
    return sorted(strings), sorted(patterns)


def _texts_in(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Each string inside rules, with its name in the file."""
    if isinstance(value, dict):
        for inner_name, inner in value.items():
            yield from _texts_in(inner_name, inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts_in(name, inner)
    elif isinstance(value, str):
        yield name, value


def _texts_for(patterns: list[str]) -> Iterator[str]:
    """Long texts that expose a slow pattern: repeated matches that then fail."""
    parts: set[str] = set()
    for pattern in patterns:
        plain = re.sub(r"\(\?[<\w=!>-]*:?", "(", pattern)
        for escape, sign in ((r"\\[pP]\{[^}]*\}|\\[wWSDhH]", "a"), (r"\\s", " "), (r"\\d", "0")):
            plain = re.sub(escape, sign, plain)
        parts |= {
            re.sub(r"\{[\d,]*\}|[\[\]*+?^$.]", "", part) for part in re.split(r"[()|]|\\.", plain)
        }
    parts = (parts | {sign for part in parts for sign in part}) - {""}
    _limit(len(parts), _MAX_PARTS, "its patterns look for more than {1} different things")
    for part in sorted(parts | {"a", " ", "0", ".", "\n"}) if patterns else ():
        text = part * (_PATTERN_LENGTH // len(part))
        yield text
        yield f"{text}\u2603"  # in no class that patterns name, and no normalizer drops it


def _check(tokenizer: Any, *texts: str) -> None:
    """Encode a text or a pair; if it is short, decode it, and check the tokens added around it."""
    _start_text()
    n_characters = sum(len(_normalize(tokenizer, text)) for text in texts)
    encoding = tokenizer.encode(*texts)
    most = _BYTES * n_characters + _SPARE
    _limit(len(encoding.ids), most, f"it makes {{:,}} tokens of {n_characters:,} characters")
    _limit(max(encoding.ids, default=0), LARGEST_ID, _ID_REFUSED)
    if len(texts[0]) > _MAX_STRING_LENGTH:
        return
    tokens = [i for text in texts for i in tokenizer.encode(text, None, False, False).ids]
    special = encoding.special_tokens_mask
    if [i for i, is_special in zip(encoding.ids, special, strict=True) if not is_special] != tokens:
        raise RefusedError("what it puts around a text leaves the text out, or doubles it")
    _limit(sum(special), _MAX_AROUND, "it puts {:,} tokens around a text; at most {} are allowed")
    if not {0, 1}.issuperset(encoding.type_ids):
        raise RefusedError("it counts a text to a segment other than 0 and 1")
    _check_decoded(tokenizer, encoding.ids, sum(map(len, texts)))


def _normalize(tokenizer: Any, text: str) -> str:
    """Return the text as the tokenizer normalizes it, if it does not grow too much."""
    if tokenizer.normalizer is None:
        return text
    changed: str = tokenizer.normalizer.normalize_str(text)
    _limit(
        len(changed),
        _GROWTH * (len(text) + 1),
        f"it makes {{:,}} characters of {len(text):,}; at most {_GROWTH} for each are allowed",
    )
    return changed


def _check_decoded(tokenizer: Any, ids: list[int], n_characters: int) -> None:
    text = tokenizer.decode(ids, skip_special_tokens=False)
    refusal = f"it makes {{:,}} characters of {len(ids):,} tokens on the way back to text"
    _limit(len(text), _GROWTH * (n_characters + _SPARE), refusal)


if __name__ == "__main__":
    _main()
