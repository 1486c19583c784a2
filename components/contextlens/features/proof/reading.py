"""The claim of Proof: whether all checks agree, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from contextlens.content.language import Claim, claim, say
from contextlens.proof.checks import Check


def proof_claims(checks: Sequence[Check]) -> list[Claim]:
    """The finding with its numbers, wrong checks first, then the checks that were not run."""
    run = [check for check in checks if check.difference is not None]
    wrong = [check for check in run if check.verdict == "differs"]
    left_out = [check for check in checks if check.difference is None]
    if not run:
        key = "other_rows" if checks[0].expected else "none"
        return [claim(f"proof.claim.{key}", measured=checks[0].measured or "—")]
    worst = max(wrong or run, key=share)
    numbers = {"worst": _short(worst.difference), "allowed": _short(worst.tolerance)}
    if wrong:
        claims = [claim("proof.claim.differ", n=len(wrong), name=worst.name, **numbers)]
    else:
        claims = [claim("proof.claim.agree", n=len(run), **numbers)]
    n_blocked = sum(check.is_blocked for check in left_out)
    n_other = sum(check.key != "bert_base" for check in left_out) - n_blocked
    if n_blocked:
        claims.append(claim("proof.claim.blocked", n=n_blocked))
    if n_other:
        claims.append(claim("proof.claim.other", n=n_other))
    if len(left_out) > n_blocked + n_other:
        claims.append(claim("proof.claim.bert_base"))
    return claims


def proof_details(checks: Sequence[Check]) -> list[str]:
    """What a changed weight turns red, the largest difference, and the note of each check."""
    run = [check for check in checks if check.difference is not None]
    notes = [f"{check.name}: {check.why}" for check in checks if check.why]
    if len(checks) == 1 or not run:
        return notes
    worst = max(run, key=share)
    numbers = {"worst": _short(worst.difference), "allowed": _short(worst.tolerance)}
    return [say("proof.changed"), say("proof.worst", name=worst.name, **numbers), *notes]


def share(check: Check) -> float:
    """A check's difference as a multiple of what is allowed; infinite if it is no number."""
    if check.difference is None or math.isnan(check.difference):
        return math.inf
    if not check.tolerance:
        return math.inf if check.difference else 0.0
    return check.difference / check.tolerance


def _short(value: float | None) -> str:
    if value is None or math.isnan(value):
        return say("proof.beyond")
    return np.format_float_positional(value, 1, unique=False, fractional=False, trim="-")
