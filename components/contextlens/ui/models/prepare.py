"""Slow one-time work, done at set-up: `python -m contextlens.ui.models.prepare`.

It compiles code for maps, and measures random and labelled pairs of words in the bundled model. If
any of this is missing, the app does it in the background.
"""

from __future__ import annotations

import sys

from contextlens.core import BUNDLED_ID, Settings, open_service
from contextlens.core.errors import ContextlensError
from contextlens.maps import prepare
from contextlens.ui.models import tasks


def main() -> None:
    """Compile and measure now; exit with a sentence if the bundled model cannot be used."""
    prepare.main()
    print("Measuring what the bundled model gives to pairs of words.", flush=True)
    try:
        settings = Settings.from_env()
        service = open_service(settings)
        tasks.keep_measures(service.load(BUNDLED_ID), service, settings.data_dir)
    except ContextlensError as exc:
        sys.exit(str(exc))


if __name__ == "__main__":
    main()
