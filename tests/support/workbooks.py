"""ZIP archives and Excel files, written without a library so that they can be hostile."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["HOME", "excel", "zipped"]

_TYPES = "application/vnd.openxmlformats-officedocument.spreadsheetml"
HOME = "http://schemas.openxmlformats.org"
_LINKS = f"{HOME}/officeDocument/2006/relationships"


def cell(value: object) -> str:
    if value is None:
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value}</v></c>"
    return f'<c t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'


def excel(sheets: Mapping[str, Sequence[Sequence[object]]], xml: str = "", **more: bytes) -> bytes:
    """Return a workbook; `xml` stands in for the rows of the first sheet."""
    parts = {
        "_rels/.rels": f'<Relationships xmlns="{HOME}/package/2006/relationships">'
        f'<Relationship Id="r" Type="{_LINKS}/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>",
        "[Content_Types].xml": f'<Types xmlns="{HOME}/package/2006/content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_TYPES}.sheet.main+xml"/></Types>',
    }
    listed = links = ""
    for i, (title, rows) in enumerate(sheets.items()):
        hidden = ' state="hidden"' if title == "hidden" else ""
        listed += f'<sheet name="{title}" sheetId="{i + 1}" r:id="s{i}"{hidden}/>'
        links += f'<Relationship Id="s{i}" Type="{_LINKS}/worksheet" Target="worksheets/s{i}.xml"/>'
        own = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/s{i}.xml"] = (
            f'<worksheet xmlns="{HOME}/spreadsheetml/2006/main"><sheetData>'
            f"{own if i else xml or own}</sheetData></worksheet>"
        )
    parts["xl/workbook.xml"] = (
        f'<workbook xmlns="{HOME}/spreadsheetml/2006/main" xmlns:r="{_LINKS}">'
        f"<sheets>{listed}</sheets></workbook>"
    )
    parts["xl/_rels/workbook.xml.rels"] = (
        f'<Relationships xmlns="{HOME}/package/2006/relationships">{links}</Relationships>'
    )
    return zipped({name: part.encode() for name, part in parts.items()} | more)


def zipped(files: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()
