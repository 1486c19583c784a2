"""`python -m docs.write_settings`: write the table of all settings into settings.md."""

from pathlib import Path

from contextlens.core.settings import markdown_table
from docs.sections import replace_section

PAGE = Path(__file__).with_name("settings.md")

if __name__ == "__main__":
    page = replace_section(PAGE.read_text(encoding="utf-8"), "settings", markdown_table())
    PAGE.write_text(page, encoding="utf-8")
