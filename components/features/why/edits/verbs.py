"""Some frequent English verbs, for rules that must know one when they see it. Not all of them.

A form that is more often another part of speech ("saw" the tool, "left" the side) counts only where
the rule that asks has seen a subject before it.
"""

from __future__ import annotations

from types import MappingProxyType

__all__ = ["BASE", "PAST", "THIRD"]

_REGULAR = """
accept add answer ask attack bark borrow call cash carry change chase clean close code cook count
cover dance deliver discover enjoy explain fail fix follow greet hate help hug hunt invite jump
kick kiss laugh learn like listen live look love marry miss need notice open own paint pass pay
play pull push reach remember repair rescue scare sleep smile start stop study surprise talk thank
touch trust try turn use visit walk want warn wash watch wait work worry
"""
_IRREGULAR = """
bite:bit bring:brought build:built buy:bought catch:caught choose:chose drink:drank drive:drove
eat:ate feed:fed feel:felt fight:fought find:found forget:forgot get:got give:gave hear:heard
hold:held keep:kept know:knew lead:led leave:left lend:lent lose:lost make:made meet:met pay:paid
ride:rode say:said see:saw sell:sold send:sent sing:sang sleep:slept speak:spoke steal:stole
swim:swam take:took teach:taught tell:told think:thought understand:understood wear:wore win:won
write:wrote go:went come:came run:ran sit:sat stand:stood begin:began break:broke fall:fell
hit:hit cut:cut hurt:hurt shut:shut
"""


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1] if verb in {'hug', 'stop'} else ''}ed"


def _third(verb: str) -> str:
    if verb == "go":
        return "goes"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "o")) else f"{verb}s"


_irregular = dict(each.split(":") for each in _IRREGULAR.split())
_regular = [verb for verb in _REGULAR.split() if verb not in _irregular]

BASE = frozenset((*_regular, *_irregular))
"""As they stand behind I, you, we and they."""
PAST = MappingProxyType(
    {**{_past(v): v for v in _regular}, **{p: v for v, p in _irregular.items()}}
)
"""Each past form, with its verb."""
THIRD = MappingProxyType({_third(verb): verb for verb in sorted(BASE)})
"""Each form behind he, she and it, with its verb."""
