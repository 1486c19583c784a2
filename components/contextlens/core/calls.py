"""A call of the encoder service as a value, and the facts about each of its methods.

A service answers every call in its `_answer`. The facts beside each method's signature in
`contextlens.core.protocol` decide what is cached, measured, split into parts or sent to another
machine.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from hashlib import sha256
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np

from contextlens.core.errors import RevisionError
from contextlens.core.schema import Average

__all__ = ["CARDS", "Call", "Files", "Method", "check_checksum", "method"]

Files = Literal["", "tokenizer", "model"]
CARDS: Mapping[Files, str] = {"tokenizer": "load_tokenizer", "model": "load"}
"""The methods that load a model's files and return the card with their checksum."""

_MAX_KEY_LENGTH = 500  # characters; longer keys are stored as a digest
_PLAIN = frozenset({type(None), bool, int, float, str})
_TEXT = frozenset({str})
_REPEATABLE = _PLAIN | {list, tuple}
_LISTS = frozenset({"interventions", "positions"})
"""The arguments with a list for each text."""
_Function = TypeVar("_Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Method:
    """A method of the encoder service.

    Attributes:
        name: the method's name.
        signature: its declaration, `self` included.
        of: the files that the answer depends on, whose checksum a call can name.
        columns: arguments with one entry for each text, `texts` first; the answer is then a list
            with one result for each text. Empty if the texts are answered as a whole.
        cached: "always" if answers are worth caching, "far" if only those from another machine
            are, "" if none are.
        believed_seconds: how long an answer from another machine is considered valid.
        quick: True if the answer needs no work.
    """

    name: str
    signature: inspect.Signature
    of: Files = ""
    columns: tuple[str, ...] = ()
    cached: Literal["", "far", "always"] = ""
    believed_seconds: float = 0.0
    quick: bool = False

    @cached_property
    def reports(self) -> bool:
        """True if the method can report progress to the caller."""
        return "progress" in self.signature.parameters

    @cached_property
    def settings(self) -> tuple[str, ...]:
        """The arguments that affect the answer, except the model and the `columns`."""
        others = {"self", "model", "checksum", "progress", *self.columns}
        return tuple(name for name in self.signature.parameters if name not in others)


class Call(NamedTuple):
    """One call: its method, and the values of all its arguments by name."""

    method: Method
    arguments: dict[str, Any]

    @property
    def model(self) -> str:
        """The model's id."""
        return cast("str", self.arguments["model"])

    @property
    def checksum(self) -> str | None:
        """The checksum of the files that the caller expects, or None if it names none."""
        return self.arguments.get("checksum")

    def having(self, **values: Any) -> Call:
        """Return the same call with different values for some arguments."""
        return Call(self.method, {**self.arguments, **values})

    def repeatable(self) -> Call:
        """The same call with lists in place of iterators, which can be read only once."""
        arguments = self.arguments
        if _REPEATABLE.issuperset(map(type, arguments.values())) and _LISTS.isdisjoint(arguments):
            return self
        read = {name: list(v) for name, v in arguments.items() if hasattr(v, "__next__")}
        for name in _LISTS.intersection(arguments):
            rows = {**arguments, **read}[name]
            if isinstance(rows, list | tuple) and any(hasattr(row, "__next__") for row in rows):
                read[name] = [list(row) for row in rows]
        return self.having(**read) if read else self

    def columns(self) -> dict[str, Sequence[Any]] | None:
        """The arguments with one entry for each text, or None if the call cannot be split by text.

        It cannot if one text's answer depends on the others, or if the arguments are not valid; the
        service that computes the answer then raises the most precise error.
        """
        columns: dict[str, Sequence[Any]] = {}
        for name in self.method.columns:
            values = self.arguments[name]
            if values is None and name == "pairs":
                continue
            if not isinstance(values, list | tuple) or not _FIT[name](values):
                return None
            columns[name] = values
            if len(values) != len(columns["texts"]):
                return None
        return columns or None

    def at(self, places: Sequence[int]) -> Call:
        """Return the same call for some of its texts only."""
        columns = self.columns() or {}
        return self.having(
            **{name: [values[i] for i in places] for name, values in columns.items()}
        )

    def keys(
        self, checksum: str | None, columns: dict[str, Sequence[Any]] | None
    ) -> list[Hashable]:
        """A key for each text, or one for the whole call. Equal keys have equal answers.

        Args:
            checksum: the checksum of the files that the answer depends on.
            columns: the result of `columns()`.
        """
        method, arguments = self
        names = method.settings if columns else (*method.settings, *method.columns)
        values: Sequence[Any] = [arguments[name] for name in names]
        if not _PLAIN.issuperset(map(type, values)):
            values = [_exact(value) for value in values]
        settings = repr(values)
        if len(settings) > _MAX_KEY_LENGTH:
            settings = sha256(settings.encode()).hexdigest()
        shared = method.name, arguments["model"], checksum, settings
        if not columns:
            return [shared]
        texts = columns["texts"]
        pairs = columns.get("pairs") or [None] * len(texts)
        keys: list[Hashable] = [(*shared, *both) for both in zip(texts, pairs, strict=True)]
        for name in sorted(_LISTS.intersection(columns)):
            rows = map(repr, map(_exact, columns[name]))
            keys = list(zip(keys, rows, strict=True))
        return keys


def _averages_over_texts(interventions: Sequence[Any]) -> bool:
    """True if one text's result depends on the others."""
    rows = [row for row in interventions if isinstance(row, list | tuple)]
    return any(isinstance(one, Average) and one.over == "batch" for row in rows for one in row)


def _are_texts(values: Sequence[Any]) -> bool:
    return _TEXT.issuperset(map(type, values)) or all(isinstance(value, str) for value in values)


_FIT: Mapping[str, Callable[[Sequence[Any]], bool]] = {
    "texts": _are_texts,
    "pairs": lambda values: _are_texts([value for value in values if value is not None]),
    "interventions": lambda values: not _averages_over_texts(values),
    "positions": lambda values: all(isinstance(row, list | tuple) for row in values),
}
"""By argument, a function that returns True if a call can be split by the argument's entries."""


def _exact(value: Any) -> Any:
    """A value whose `repr` is complete and distinguishes 1, 1.0 and True, however nested."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return value.dtype.str, value.shape, sha256(value.tobytes()).hexdigest()
    return [_exact(one) for one in value] if isinstance(value, Iterable) else value


def check_checksum(model: str, checksum: str, expected: str | None) -> None:
    """Check that a model's files are those that the caller expects; None accepts any.

    Raises:
        RevisionError: the files have a different checksum.
    """
    if expected not in {None, checksum}:
        raise RevisionError(
            f"{model} is another revision here ({checksum[:12]}) than the one that this was begun "
            f"with ({str(expected)[:12]}), and results of both are never mixed. Try again; if that "
            "does not help, whoever runs the models has to give all servers the same revision."
        )


def method(
    *,
    of: Files = "",
    columns: tuple[str, ...] = (),
    cached: Literal["", "far", "always"] = "",
    believed_seconds: float = 0.0,
    quick: bool = False,
) -> Callable[[_Function], _Function]:
    """Return a decorator: the method hands each call to its service's `_answer`. See `Method`."""

    def decorated(function: _Function) -> _Function:
        signature = inspect.signature(function)
        facts = Method(function.__name__, signature, of, columns, cached, believed_seconds, quick)
        parameters = list(signature.parameters.values())[1:]
        in_order = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        names = {p.name for p in parameters}

        @wraps(function)
        def ask(self: Any, /, *given: Any, **named: Any) -> Any:
            arguments = {**defaults, **named}
            arguments.update(zip(in_order, given, strict=False))
            if (
                arguments.keys() != names
                or len(given) > len(in_order)
                or not named.keys().isdisjoint(in_order[: len(given)])
            ):
                signature.bind(self, *given, **named)  # reports arguments that do not fit
            return self._answer(Call(facts, arguments))

        ask.facts = facts  # type: ignore[attr-defined]
        return cast("_Function", ask)

    return decorated
