"""Every error that a caller of Contextlens should handle, in one tree.

    ContextlensError
    ├── SettingsError            an environment variable has a value that cannot be used
    ├── AccessError              an action that this visitor is not allowed
    ├── InputError               input or a request that cannot be used
    │   ├── TextError            a text that no tokenizer can read
    │   ├── RequestError         a request that does not fit the model (layer, head, length)
    │   ├── StateError           an address or a state file that cannot be read
    │   └── CorpusError          a file that cannot be used as a corpus
    ├── ModelError               a model that cannot be used
    │   ├── UnknownModelError    no such model, or one that is not allowed here
    │   ├── UnsupportedModelError  a model of an unsupported kind
    │   ├── CheckpointError      files that are missing, damaged or unsafe
    │   ├── RevisionError        a different revision from the one at the start
    │   └── FetchError           the hub did not provide the files
    ├── JobError                 background work that was not done
    │   ├── BusyError            too much of it is waiting already
    │   └── WorkerError          the process that did the work failed or ended
    └── ServiceAwayError         the service on another machine does not answer

Each message says what was given, what is allowed and what to do next. Pages show it unchanged,
except that of a SettingsError, which is for the server's operator.
"""

from __future__ import annotations

__all__ = [
    "AccessError",
    "BusyError",
    "CheckpointError",
    "ContextlensError",
    "CorpusError",
    "FetchError",
    "InputError",
    "JobError",
    "ModelError",
    "RequestError",
    "RevisionError",
    "ServiceAwayError",
    "SettingsError",
    "StateError",
    "TextError",
    "UnknownModelError",
    "UnsupportedModelError",
    "WorkerError",
]


class ContextlensError(Exception):
    """The base of all errors that Contextlens raises on purpose."""

    @property
    def for_visitors(self) -> str:
        """The message for visitors."""
        return str(self)


class SettingsError(ContextlensError):
    """An environment variable has a value that cannot be used."""

    @property
    def for_visitors(self) -> str:
        """A message without details, which may hold secrets of the server's operator."""
        return (
            "Contextlens is not set up yet: whoever runs this server finds the reason in its log."
        )


class AccessError(ContextlensError):
    """An action that this visitor is not allowed, for lack of a role or because this is a demo."""


class InputError(ContextlensError):
    """Input or a request that cannot be used."""


class TextError(InputError):
    """A text that no tokenizer can read."""

    @classmethod
    def of_half_character(cls, error: UnicodeEncodeError) -> TextError:
        """The error for a text that holds a lone surrogate."""
        return cls(
            f"Character {error.start + 1} of the text is half of a character "
            f"(U+{ord(error.object[error.start]):04X}, a lone surrogate), which no tokenizer can "
            "read. Delete it and type it again."
        )


class RequestError(InputError):
    """A request that does not fit the model."""


class StateError(InputError):
    """An address or a state file that cannot be read."""


class CorpusError(InputError):
    """A file that cannot be used as a corpus."""


class ModelError(ContextlensError):
    """A model that cannot be used."""


class UnknownModelError(ModelError):
    """There is no such model, or it is not allowed here."""


class UnsupportedModelError(ModelError):
    """A model of an unsupported kind."""


class CheckpointError(ModelError):
    """Model files that are missing, damaged or unsafe."""


class RevisionError(ModelError):
    """A different revision of a model from the one that the caller started with."""


class FetchError(ModelError):
    """The hub did not provide the files."""


class JobError(ContextlensError):
    """Background work that was not done, although the request was valid."""


class BusyError(JobError):
    """Too much work is waiting already.

    Args:
        message: the text of the error.
        retry_seconds: the time after which to try again, if known.
    """

    def __init__(self, message: str, retry_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


class WorkerError(JobError):
    """The process that did the work failed or ended."""


class ServiceAwayError(ContextlensError):
    """The service on another machine does not answer."""
