"""Slow one-time work, done at set-up: `python -m contextlens.ui.models.prepare`.

It compiles code for maps, measures random and labelled pairs of words in the bundled model, and
opens the first pages, whose answers are then on disk for the next start. If any of this is missing,
the app does it in the background.
"""

from __future__ import annotations

import logging
import sys
import time
from dataclasses import replace

from streamlit.testing.v1 import AppTest

from contextlens.core import BUNDLED_ID
from contextlens.core.errors import ContextlensError
from contextlens.maps import prepare
from contextlens.ui.app_files import app_folder
from contextlens.ui.models import tasks
from contextlens.ui.models.background import jobs
from contextlens.ui.page.navigation import PAGES
from contextlens.ui.state.address import encode
from contextlens.ui.state.services import service, settings
from contextlens.ui.state.view import DEFAULT

_SECTIONS = ("", "sentences")  # of the pages that open with the ready examples
_N_RUNS = 2  # some of what a page shows comes from jobs, which are over in its next run
_SECONDS = 60.0
_POLL_SECONDS = 0.1


def main() -> None:
    """Compile and measure now; exit with a sentence if the bundled model cannot be used."""
    prepare.main()
    print("Measuring what the bundled model gives to pairs of words.", flush=True)
    try:
        card = service().load(BUNDLED_ID, progress=lambda _: None)
        tasks.keep_measures(card, service(), settings().data_dir)
    except ContextlensError as exc:
        sys.exit(str(exc))
    print("Opening the first pages.", flush=True)
    open_pages()


def open_pages() -> None:
    """Run the pages with the first example, so that the service keeps what they ask for."""
    missing = "streamlit.runtime.scriptrunner_utils.script_run_context"
    logging.getLogger(missing).setLevel(logging.ERROR)  # it warns that there is no browser
    for row in PAGES:
        if row.section not in _SECTIONS or row.needs_own_model:
            continue
        page = AppTest.from_file(app_folder() / row.file, default_timeout=_SECONDS)
        page.query_params["s"] = encode(replace(DEFAULT, model=BUNDLED_ID))
        for _ in range(_N_RUNS):
            page.run()
            _finish_jobs()


def _finish_jobs() -> None:
    end = time.monotonic() + _SECONDS
    while any(state in {"waiting", "running"} for _, state in jobs().tally()):
        if time.monotonic() > end:
            break
        time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    main()
