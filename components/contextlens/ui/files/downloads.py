"""Files that a click on a download button makes, until the browser has fetched them.

The browser fetches such a file with a second request. Streamlit 1.67 deletes it as soon as two runs
of any visitors have ended since: on a busy server, before that request arrives.
"""

import time

from streamlit.runtime import media_file_manager
from streamlit.runtime.media_file_storage import MediaFileKind

KEEP_SECONDS = 60.0
"""How long a file can be fetched after the click; the first run to end after that deletes it."""


class _Metadata(media_file_manager.MediaFileMetadata):
    def __init__(self, kind: MediaFileKind = MediaFileKind.MEDIA) -> None:
        super().__init__(kind)
        self._made = time.monotonic()

    @property
    def is_marked_for_delete(self) -> bool:
        return super().is_marked_for_delete and time.monotonic() - self._made > KEEP_SECONDS


def begin() -> None:
    """Keep each file for `KEEP_SECONDS`, from now on and in this process."""
    media_file_manager.MediaFileMetadata = _Metadata  # type: ignore[misc]
