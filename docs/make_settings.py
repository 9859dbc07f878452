"""Writes docs/settings.md from the list of configs. Run it where the list has changed; a test compares the two."""

from __future__ import annotations

from pathlib import Path

from dbt.adapters.sparkstream.streaming import MATERIALIZATION, settings
from dbt.adapters.sparkstream.streaming.settings import Setting

PAGE = Path(__file__).with_name("settings.md")

_OF = {
    MATERIALIZATION: "Streaming models",
    settings.WINDOW_REPLACE: "Incremental models with `window_replace`",
    settings.ANY: "Every model",
}

_HEAD = """\
# Configs

All configs that this project reads in `config()`, in YAML and in `dbt_project.yml`, with values and defaults. Each may
be in `meta`, too, where [dbt 2](where.md#dbt-2) wants configs that it doesn't know. `sparkstream schemas` has them for
[editors](editors.md), and the keys of a profile; the site of `make docs` has these keys, all macros and tests as pages.
"""

_REFUSED = """\
## What a streaming model doesn't take

| config | |
|---|---|
"""

_FOOT = """
In a streaming model, a misspelt name is an error that names the right one. Any other name is your own.
"""


def page() -> str:
    """The page's text."""
    parts = [_HEAD]
    for of, title in _OF.items():
        rows = "\n".join(map(_row, (setting for setting in settings.SETTINGS if of in setting.of)))
        parts.append(f"## {title}\n\n| config | value | default | |\n|---|---|---|---|\n{rows}\n")
    refused = "\n".join(f"| `{name}` | {why} |" for name, why in settings.MEANINGLESS.items())
    return "\n".join([*parts, _REFUSED + refused]) + "\n" + _FOOT


def _row(setting: Setting) -> str:
    value = ", ".join(f"`{word}`" for word in setting.words) or setting.kind.value
    default = setting.words[0] if setting.words else setting.default
    return f"| `{setting.name}` | {value} | {f'`{default}`' if default else ''} | {setting.about} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
