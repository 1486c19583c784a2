"""Asks an index of advisories about what the locks name: `make audit`.

    audit.py PIP_AUDIT LOCK...

pip-audit reports a package that it could ask nobody about as passed; here that is said, and is a
failure.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

NOBODY = (
    "No index of advisories answered, so nothing was audited. Run make audit where the advisories "
    "of the package index or those of OSV can be reached."
)
SERVICES = ("pypi", "osv")


def main(program: str, *locks: str) -> str | int:
    """0 where all is well, else a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        lock = Path(folder) / "all.txt"
        lock.write_text(joined(locks), encoding="utf-8")
        for service in SERVICES:
            found = ask(program, service, lock)
            asked = [package for package in found if "skip_reason" not in package]
            if asked:
                return told(asked, len(found))
    return NOBODY


def joined(locks: tuple[str, ...]) -> str:
    """The packages of all locks, each version once."""
    lines = (line for lock in locks for line in Path(lock).read_text(encoding="utf-8").splitlines())
    pins = (line.split()[0] for line in lines if re.match(r"[\w.-]+==", line))
    return "\n".join(sorted({pin.lower().replace("_", "-") for pin in pins}))


def ask(program: str, service: str, lock: Path) -> list[dict[str, object]]:
    """What pip-audit says of each package; nothing where it could not ask."""
    options = ["--format", "json", "--progress-spinner", "off", "--timeout", "15"]
    done = subprocess.run(
        [program, "-s", service, *options, "--no-deps", "--disable-pip", "-r", str(lock)],
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(done.stdout)["dependencies"] if done.stdout.strip() else []


def told(asked: list[dict[str, object]], n_all: int) -> str | int:
    """The outcome, each advisory on a line."""
    hurt = [(package, each) for package in asked for each in package["vulns"]]
    for package, each in hurt:
        fixed = ", ".join(each["fix_versions"]) or "no version yet"
        print(f"{package['name']} {package['version']}: {each['id']}; fixed in {fixed}")
    print(f"{len(asked)} of {n_all} packages were asked about; {len(hurt)} advisories.")
    if hurt:
        return "Raise these versions in locks/constraints.txt, then run make lock."
    return 0 if len(asked) == n_all else "Some packages are not in the index of advisories."


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
