"""A script's values in the languages of a project's files: Jinja in SQL, YAML that dbt renders, comments, Markdown.

A text of the script goes into no file but through one of these functions; literals and names of SQL are those of
`sql/core`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

_OPENING = re.compile(r"\{[{%#]|\{\Z")
"""Text that begins Jinja; a brace at the end would, together with what comes behind it."""
_RENDERED = re.compile(r"\{[{%#]|\r|\n\Z")
"""Parts of a text of YAML that Jinja changes."""

_ENTITIES = {c: f"&#{ord(c)};" for c in "&<>~"}
_EMPHASIS = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
"""An underscore that isn't within a word."""
_MARKDOWN = {**_ENTITIES, **{c: f"\\{c}" for c in "\\`*[]|"}, "\r": " ", "\n": " "}
_WITHIN_CODE = {c: f"&#{ord(c)};" for c in "&<>~\\`*_[]|!\r\n{}#"}


@dataclass(frozen=True)
class Variable:
    """A value of the script that a variable of the environment holds.

    Attributes:
        name: the variable.
        option: the value's option or setting in the script.
    """

    name: str
    option: str

    @property
    def expression(self) -> str:
        """The value in Jinja."""
        return f"env_var('{self.name}')"


class Jinja(str):
    """A text of YAML that dbt is to render."""


def variables_in(content: Any) -> Iterator[Variable]:
    """The variables in the content of a file."""
    if isinstance(content, Variable):
        yield content
    elif isinstance(content, Mapping):
        for value in content.values():
            yield from variables_in(value)
    elif isinstance(content, list | tuple):
        for value in content:
            yield from variables_in(value)


def jinja_text(text: str) -> str:
    """A text for a model's SQL, escaped so that dbt reads no Jinja in it."""
    return _OPENING.sub(lambda found: "{{ '" + found[0] + "' }}", text)


def jinja_value(value: Any) -> str:
    """A value within Jinja: a text, number, list, mapping or variable."""
    if isinstance(value, Variable):
        return value.expression
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{jinja_value(key)}: {jinja_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(jinja_value, value)) + "]"
    # dbt's parser of config() leaves escapes as they are; of a filter it knows nothing, and has Jinja read it.
    return f"({value!r} | string)" if isinstance(value, str) and "\\" in repr(value) else repr(value)


def yaml_file(content: Mapping[str, Any]) -> str:
    """A file of YAML for dbt, which renders it: texts come out as they are, those of type `Jinja` rendered."""
    return yaml.safe_dump(_yaml(content), sort_keys=False, allow_unicode=True, width=110)


def _yaml(content: Any) -> Any:
    if isinstance(content, Variable):
        return "{{ " + content.expression + " }}"
    if isinstance(content, Mapping):
        return {key: _yaml(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_yaml(value) for value in content]
    if isinstance(content, Jinja):
        return str(content)
    # As one expression: dbt takes what is put together of several for a literal of Python, if it looks like one.
    return "{{ " + jinja_value(content) + " }}" if isinstance(content, str) and not is_plain_yaml(content) else content


def is_plain_yaml(text: str) -> bool:
    """True if dbt's rendering leaves a text of YAML as it is."""
    return _RENDERED.search(text) is None


def comment_line(text: str) -> str:
    """A comment of a model, in one line. A backslash at its end would have Spark take the next line for one, too."""
    return "-- " + jinja_text(" ".join(text.split())) + (" " if text.rstrip().endswith("\\") else "")


def markdown_text(text: str) -> str:
    """A text in Markdown, also in a table."""
    return _EMPHASIS.sub(r"\\_", "".join(_MARKDOWN.get(c, c) for c in text))


def markdown_code(text: str) -> str:
    """A piece of code in Markdown, also in a table."""
    if text.strip() == text != "" and not any(c in text for c in "`|\r\n"):
        return f"`{text}`"
    return f"<code>{''.join(_WITHIN_CODE.get(c, c) for c in text)}</code>"
