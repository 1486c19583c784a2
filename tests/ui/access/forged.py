"""A browser that keeps to no rule: Streamlit's WebSocket protocol, with whatever one likes to say.

Only to this machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets.sync.client import ClientConnection, connect

__all__ = ["Forger", "Seen"]

_PATIENCE = 120.0
_EARLY = ForwardMsg.FINISHED_EARLY_FOR_RERUN


@dataclass(frozen=True)
class Seen:
    """The result of one run of a page.

    Attributes:
        ids: of its widgets.
        text: all that came, as it went over the wire.
    """

    ids: tuple[str, ...]
    text: bytes

    def id_of(self, key: str) -> str:
        """The id of the widget with a key."""
        return next(own for own in self.ids if own.endswith(f"-{key}"))

    def has(self, key: str) -> bool:
        """True if there is such a widget."""
        return any(own.endswith(f"-{key}") for own in self.ids)


class Forger:
    """One tab of somebody, by their cookies.

    Args:
        address: the app's.
        cookies: what it gave them when they signed in; none for who has not.
        origin: of the page, where a proxy shows the app under a name of its own.
    """

    def __init__(self, address: str, cookies: Mapping[str, str], origin: str = "") -> None:
        place = urlsplit(address)
        assert place.hostname == "localhost"
        self.xsrf = generate_xsrf_token_string()
        self.cookies = {**cookies, "_streamlit_xsrf": self.xsrf}
        self.session = ""
        self._address, self._script = address, ""
        self._open = connect(
            f"ws://{place.netloc}{place.path}/_stcore/stream",
            origin=origin or f"http://{place.netloc}",  # type: ignore[arg-type]
            subprotocols=["streamlit", self.xsrf],  # type: ignore[list-item]
            additional_headers={
                "Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())
            },
            max_size=None,
            proxy=None,
            open_timeout=_PATIENCE,
        )

    def __enter__(self) -> Self:
        self._socket: ClientConnection = self._open.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.__exit__(*error)

    def press(self, page: str, query: str, *ids: str) -> Seen:
        """The page at an address, as if buttons with these ids had been pressed."""
        return self.run(page, query, [WidgetState(id=own, trigger_value=True) for own in ids])

    def run(self, page: str, query: str = "", states: Sequence[WidgetState] = ()) -> Seen:
        """The page at an address, with whatever states of widgets."""
        question = BackMsg()
        state = question.rerun_script
        state.query_string = query
        state.page_script_hash, state.page_name = self._script, "" if self._script else page
        state.widget_states.widgets.extend(states)
        state.context_info.url = f"{self._address}/{page}?{query}"
        self._socket.send(question.SerializeToString())
        return self._read()

    def _read(self) -> Seen:
        ids: list[str] = []
        frames: list[bytes] = []
        has_begun = False
        while True:
            frame = self._socket.recv(timeout=_PATIENCE, decode=False)
            message = ForwardMsg.FromString(frame)
            frames.append(frame)
            kind = message.WhichOneof("type")
            if kind == "new_session":
                has_begun, self._script = True, message.new_session.page_script_hash
                self.session = message.new_session.initialize.session_id
            elif kind == "navigation":
                self._script = message.navigation.page_script_hash
            elif kind == "delta":
                ids += _ids(message.delta.new_element)
            elif kind == "script_finished" and has_begun and message.script_finished != _EARLY:
                return Seen(tuple(ids), b"".join(frames))


def _ids(element: Any) -> list[str]:
    kind = element.WhichOneof("type")
    own = getattr(getattr(element, kind), "id", "") if kind else ""
    return [own] if isinstance(own, str) and own else []
