"""What several callers ask of models at once, run together: whose turn it is, and by which thread.

Nothing here knows what is computed, nor imports torch.
"""

from __future__ import annotations

from components.core.batching.call import Work
from components.core.batching.queue import Queue
from components.core.batching.streams import Processors, Streams
from components.core.batching.ticket import Batch, Kind, Ticket

__all__ = ["Batch", "Kind", "Processors", "Queue", "Streams", "Ticket", "Work"]
