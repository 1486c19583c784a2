"""Which token a hub is sent: none, unless the operator named the model for it."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from components.core.errors import FetchError

__all__ = ["token_for"]


def token_for(model_id: str, endpoint: str | None, *, named: bool) -> str | Literal[False]:
    """The token to fetch a model with; False, and not None, keeps huggingface_hub from sending one.

    Args:
        model_id: for messages.
        endpoint: address of the hub; None means huggingface_hub's own.
        named: whether the operator's token (HF_TOKEN, or a stored login) may be used for it.

    Raises:
        FetchError: it may, and the hub is asked without encryption.
    """
    if not named:
        return False
    from huggingface_hub import constants, get_token

    if urlsplit(endpoint or constants.ENDPOINT).scheme != "https":
        raise FetchError(
            f"{model_id} was not fetched: CONTEXTLENS_TOKEN_MODELS names it, and a token is never "
            "sent to an http:// address. Ask whoever runs this app to give the hub an https:// "
            "address, or choose another model."
        )
    return get_token() or False
