"""The checksums of the bundled model's small files; that of its weights is in `registry`.

A changed tokenizer or config changes every number just as changed weights do.
"""

from __future__ import annotations

from pathlib import Path

from contextlens.core.errors import CheckpointError
from contextlens.core.files import checksum_of

__all__ = ["SHA256", "check_bundled_files"]

SHA256: dict[str, str] = {
    "1_Pooling/config.json": ("4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
    "README.md": ("7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7"),
    "config.json": ("953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
    "config_sentence_transformers.json": (
        "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3"
    ),
    "data_config.json": ("32edcb108fc2516b920734a862ae0692bcae1c5d45d5f8d972cb0d53434a4c54"),
    "modules.json": ("84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
    "sentence_bert_config.json": (
        "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
    ),
    "special_tokens_map.json": ("303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3"),
    "tokenizer.json": ("be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
    "tokenizer_config.json": ("acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
    "vocab.txt": ("07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
}
"""Checksums by file name in the model's folder."""

_READ = (".bin", ".jinja", ".json", ".model", ".safetensors", ".txt")
_WEIGHTS = "model.safetensors"


def check_bundled_files(folder: Path) -> None:
    """Check that the files are those that Contextlens was built with, and that none was added.

    Raises:
        CheckpointError: a file is changed, missing or new.
    """
    present = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.suffix in _READ}
    strange = sorted(present - set(SHA256) - {_WEIGHTS})
    changed = [name for name, sum_ in SHA256.items() if not _is_whole(folder / name, sum_)]
    if strange or changed:
        raise CheckpointError(
            f"The bundled model's {(changed + strange)[0]} is not what Contextlens was built with, "
            "so the model is not used. Install the package again (make clean setup), or choose "
            "another model."
        )


def _is_whole(path: Path, checksum: str) -> bool:
    return path.is_file() and checksum_of([path]) == checksum
