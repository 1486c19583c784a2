"""What both sides of the HTTP API call its paths, headers and kinds of bodies."""

from __future__ import annotations

from components.core.protocol import EncoderService

__all__ = [
    "BULK_HEADER",
    "CALLER_HEADER",
    "METHODS",
    "MODEL_HEADER",
    "PREFIX",
    "STREAM_TYPE",
]

PREFIX = "/v1"
STREAM_TYPE = "application/x-contextlens-stream"
"""Frames: how far the work is, then what came of it. Sent to who accepts it, for long work."""
CALLER_HEADER = "x-contextlens-caller"
"""Alike for all that one visitor asks for, and telling nothing of them."""
BULK_HEADER = "x-contextlens-bulk"
MODEL_HEADER = "serve_multiplexed_model_id"
"""The model that is asked; by it Ray Serve finds a replica that has it in memory."""
METHODS = tuple(name for name in vars(EncoderService) if not name.startswith("_"))
"""What a service can be asked: each is a path below `PREFIX`."""
