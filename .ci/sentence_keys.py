"""A plugin of mypy: `say`, `claim` and `table` are given only keys that `english.toml` has.

A key may be an f-string. What stands in its gaps is a literal, a StrEnum, or a local name that is
given nothing else, and each combination is a key. What may be any `str` is an error.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from mypy import nodes
from mypy.errorcodes import ErrorCode
from mypy.literals import literal_hash
from mypy.options import Options
from mypy.plugin import FunctionContext, Plugin, ReportConfigContext
from mypy.types import Instance, LiteralType, Type, UninhabitedType, UnionType, get_proper_type

ENGLISH = Path(__file__).parents[1] / "components/contextlens/content/english.toml"
LANGUAGE = "contextlens.content.language"
WRONG_KEY = ErrorCode("sentence-key", "A key that english.toml does not have", "General")

Texts = set[str] | None
"""What a text may be; None if it may be any."""
Values = list[nodes.Expression | None]
"""What a name is given; None in place of what is not an expression."""


class SentenceKeys(Plugin):
    """Checks the key at each call."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.kinds = dict(kinds_of(tomllib.loads(ENGLISH.read_text(encoding="utf-8"))))
        self.digest = sha256(repr(sorted(self.kinds.items())).encode()).hexdigest()
        self.tree: nodes.MypyFile | None = None
        self.names: dict[nodes.Var, Values] = {}

    def report_config_data(self, ctx: ReportConfigContext) -> str | None:
        """A sign of all keys: our modules are checked again when one comes or goes."""
        return self.digest if "site-packages" not in ctx.path else None

    def get_function_hook(self, fullname: str) -> Callable[[FunctionContext], Type] | None:
        """The check at the functions that take a key."""
        kind = {"claim": "sentence", "say": "sentence", "table": "table"}
        module, _, name = fullname.rpartition(".")
        if module != LANGUAGE or name not in kind:
            return None
        return lambda ctx: self.check(ctx, kind[name])

    def check(self, ctx: FunctionContext, kind: str) -> Type:
        """Report a key that is not there, and leave the type of the call as it is."""
        api: Any = ctx.api
        if api.tree is not self.tree:
            self.tree, self.names = api.tree, names_of(api.tree)
        (key,) = ctx.args[0]
        texts = self.texts_of(key, api.lookup_type_or_none)
        if texts is None:
            api.fail("A key, or a gap in it, may be any str", key, code=WRONG_KEY)
        for text in sorted(texts or ()):
            if self.kinds.get(text) != kind:
                api.fail(f'english.toml has no {kind} "{text}"', key, code=WRONG_KEY)
        return ctx.default_return_type

    def texts_of(self, value: Any, type_of: Callable[[nodes.Expression], Type | None]) -> Texts:
        """The texts that an expression may be."""
        if isinstance(value, nodes.StrExpr):
            return {value.value}
        if parts := parts_of(value):
            texts = [self.texts_of(part, type_of) for part in parts]
            combined = product(*(part for part in texts if part))
            return {"".join(each) for each in combined} if all(texts) else None
        known = texts_of_type(type_of(value)) if value else None
        if known is not None:
            return known
        if choices := choices_of(value):
            return united(self.texts_of(each, type_of) for each in choices)
        if isinstance(value, nodes.NameExpr) and isinstance(value.node, nodes.Var):
            given = self.names.get(value.node, [None])
            self.names[value.node] = []  # a name that is given itself adds nothing
            known = united(self.texts_of(each, type_of) for each in given)
            self.names[value.node] = given
        return known


def kinds_of(entries: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Every key, and what it names: a sentence, which may be a table of its forms, or a table."""
    for name, value in entries.items():
        is_sentence = isinstance(value, str) or "several" in value
        yield f"{before}{name}", "sentence" if is_sentence else "table"
        if isinstance(value, dict):
            yield from kinds_of(value, f"{before}{name}.")


def parts_of(value: Any) -> list[nodes.Expression]:
    """The texts and gaps of an f-string: mypy has "".join and "{:{}}".format in its place."""
    match value:
        case nodes.CallExpr(
            callee=nodes.MemberExpr(expr=nodes.StrExpr(value=""), name="join"),
            args=[nodes.ListExpr(items=items)],
        ):
            return items
        case nodes.CallExpr(
            callee=nodes.MemberExpr(expr=nodes.StrExpr(value="{:{}}"), name="format"),
            args=[gap, nodes.StrExpr(value="")],
        ):
            return [gap]
    return []


def choices_of(value: Any) -> Values:
    """The expressions one of which an expression is; none if that cannot be seen."""
    match value:
        case nodes.ConditionalExpr(
            cond=nodes.ComparisonExpr(
                operators=["in"], operands=[item, nodes.TupleExpr(items=items)]
            ),
            if_expr=one,
            else_expr=other,
        ) if literal_hash(item) == literal_hash(one):
            return [*items, other]
        case nodes.ConditionalExpr(if_expr=one, else_expr=other):
            return [one, other]
        case nodes.IndexExpr(base=nodes.DictExpr(items=items)):
            return [item for _, item in items]
        case nodes.IndexExpr(base=nodes.TupleExpr(items=items)):
            return list(items)
    return []


def texts_of_type(given: Type | None) -> Texts:
    """The texts that a value of this type may be."""
    given = get_proper_type(given)
    if isinstance(given, UnionType):
        return united(map(texts_of_type, given.items))
    if isinstance(given, UninhabitedType):
        return set()
    if isinstance(given, Instance) and given.last_known_value:
        given = given.last_known_value
    of = given.fallback if isinstance(given, LiteralType) else given
    if isinstance(of, Instance) and of.type.has_base("enum.StrEnum"):
        names = [given.value] if isinstance(given, LiteralType) else of.type.enum_members
        return united(texts_of_type(of.type.names[str(name)].type) for name in names)
    return {str(given.value)} if isinstance(given, LiteralType) else None


def united(texts: Iterable[Texts]) -> Texts:
    """All texts together."""
    each = list(texts)
    return None if None in each else {text for some in each for text in some or ()}


def names_of(tree: nodes.MypyFile) -> dict[nodes.Var, Values]:
    """What the names without a type of their own are given in a module."""
    names: dict[nodes.Var, Values] = defaultdict(list)

    def give(target: nodes.Expression, values: Values) -> None:
        if isinstance(target, nodes.TupleExpr):
            for i, part in enumerate(target.items):
                give(part, [v for value in values for v in nth(value, i)])
        elif isinstance(target, nodes.NameExpr) and isinstance(target.node, nodes.Var):
            names[target.node] += values if target.node.is_inferred else [None]

    for statement in statements_of(tree.defs):
        match statement:
            case nodes.AssignmentStmt(lvalues=targets, rvalue=value):
                for target in targets:
                    give(target, [value])
            case nodes.OperatorAssignmentStmt(lvalue=target):
                give(target, [None])
            case nodes.WithStmt(target=targets):
                for target in filter(None, targets):
                    give(target, [None])
            case nodes.ForStmt(index=target, expr=nodes.TupleExpr(items=items)):
                give(target, list(items))
            case nodes.ForStmt(index=target):
                give(target, [None])
    return names


def nth(value: nodes.Expression | None, i: int) -> Values:
    """What may be at a place of a tuple."""
    if isinstance(value, nodes.ConditionalExpr):
        return [*nth(value.if_expr, i), *nth(value.else_expr, i)]
    return [value.items[i] if isinstance(value, nodes.TupleExpr) else None]


def statements_of(body: Iterable[nodes.Node]) -> Iterator[nodes.Node]:
    """All statements, and those in their blocks."""
    for statement in body:
        yield statement
        for name in ("func", "defs", "body", "bodies", "else_body", "handlers", "finally_body"):
            inner = getattr(statement, name, None)
            yield from statements_of(inner if isinstance(inner, list) else [inner] if inner else [])


def plugin(version: str) -> type[Plugin]:  # noqa: ARG001
    """What mypy looks for."""
    return SentenceKeys
