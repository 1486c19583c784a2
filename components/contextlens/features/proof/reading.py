"""The claim of Proof: whether all checks agree, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from contextlens.content.language import Claim, claim, say
from contextlens.proof.checks import Check


def proof_title(checks: Sequence[Check]) -> Claim:
    """The finding as a title."""
    run = [check for check in checks if check.difference is not None]
    wrong = [check for check in run if check.verdict == "differs"]
    if wrong:
        return claim("proof.title.differ", n=len(wrong), n_run=len(run))
    return claim("proof.title.agree", n=len(run)) if run else claim("proof.title.none")


def proof_claims(checks: Sequence[Check]) -> list[Claim]:
    """The finding with its numbers, wrong checks first, then how many were not run."""
    run = [check for check in checks if check.difference is not None]
    wrong = [check for check in run if check.verdict == "differs"]
    n_not_run = len(checks) - len(run)
    if not run:
        key = "other_rows" if checks[0].expected else "none"
        return [claim(f"proof.claim.{key}", measured=checks[0].measured or "—")]
    worst = max(wrong or run, key=share)
    numbers = {"worst": _short(worst.difference), "allowed": _short(worst.tolerance)}
    if wrong:
        found = claim("proof.claim.differ", n=len(wrong), name=worst.name, **numbers)
    else:
        found = claim("proof.claim.agree", n=len(run), **numbers)
    return [found, *([claim("proof.claim.not_run", n=n_not_run)] if n_not_run else [])]


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
