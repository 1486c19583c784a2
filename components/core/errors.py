"""Every error that a caller of Contextlens should handle, in one tree.

ContextlensError
├── SettingsError            an environment variable has a value that cannot be used
├── AccessError              what this visitor may not do here
├── InputError               what was typed or asked for cannot be used
│   ├── TextError            a text that no tokenizer can read
│   ├── RequestError         a request that does not fit the model (layer, head, length)
│   ├── StateError           an address or a state file that cannot be read
│   └── CorpusError          a file that cannot be used as a corpus
├── ModelError               a model that cannot be used
│   ├── UnknownModelError    no such model, or one that is not allowed here
│   ├── UnsupportedModelError  a model of a kind that is not supported
│   ├── CheckpointError      files that are missing, damaged or unsafe
│   ├── RevisionError        another revision of it than the one that was begun with
│   └── FetchError           the hub did not give the files
├── JobError                 work in the background that was not done
│   ├── BusyError            too much of it waits already
│   └── WorkerError          the process that did it failed or ended
└── ServiceAwayError         the service on another machine does not answer

Each message says what was given, what is allowed and what to do next. Pages show it as it is;
only that of a SettingsError is for whoever runs the server.
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
        """What pages say."""
        return str(self)


class SettingsError(ContextlensError):
    """An environment variable has a value that cannot be used."""

    @property
    def for_visitors(self) -> str:
        """What pages say, for the message may hold what only whoever runs the server may see."""
        return (
            "Contextlens is not set up yet: whoever runs this server finds the reason in its log."
        )


class AccessError(ContextlensError):
    """What this visitor may not do here: for want of a role, or because it is a demo."""


class InputError(ContextlensError):
    """What was typed or asked for cannot be used."""


class TextError(InputError):
    """A text that no tokenizer can read."""

    @classmethod
    def of_half_character(cls, found: UnicodeEncodeError) -> TextError:
        """The error for a text that holds a lone surrogate."""
        return cls(
            f"Character {found.start + 1} of the text is half of a character "
            f"(U+{ord(found.object[found.start]):04X}, a lone surrogate), which no tokenizer can "
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
    """No such model, or one that is not allowed here."""


class UnsupportedModelError(ModelError):
    """A model of a kind that is not supported."""


class CheckpointError(ModelError):
    """Model files that are missing, damaged or unsafe."""


class RevisionError(ModelError):
    """Another revision of a model than the one that the caller began with."""


class FetchError(ModelError):
    """The hub did not give the files."""


class JobError(ContextlensError):
    """Work in the background that was not done, through no fault of what was asked."""


class BusyError(JobError):
    """Too much work waits already.

    Args:
        message: what to say.
        retry_seconds: when to try again, where that is known.
    """

    def __init__(self, message: str, retry_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_seconds = retry_seconds


class WorkerError(JobError):
    """The process that did the work failed or ended."""


class ServiceAwayError(ContextlensError):
    """The service on another machine does not answer."""
