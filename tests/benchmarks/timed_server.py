"""`streamlit` as it is, but every script run's times are written to a file, a JSON line each.

Run as `python -m tests.benchmarks.timed_server FILE run app.py ...`. "script" is what the page
author's code takes: callbacks, frame and page. "all" adds what Streamlit does around it, a full
garbage collection included, which comes after the browser has everything.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Patch the two functions that run scripts, then start Streamlit."""
    from streamlit.runtime.scriptrunner import script_runner
    from streamlit.web import cli

    out = Path(sys.argv.pop(1))
    spent: dict[str, float] = {}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                spent[name] = 1e3 * (time.perf_counter() - start)
                if name == "all":
                    with out.open("a") as file:
                        file.write(json.dumps(spent) + "\n")

        return wrapper

    script_runner.exec_func_with_error_handling = timed(
        "script", script_runner.exec_func_with_error_handling
    )
    script_runner.ScriptRunner._run_script = timed("all", script_runner.ScriptRunner._run_script)
    sys.argv[0] = "streamlit"
    cli.main()


if __name__ == "__main__":
    main()
