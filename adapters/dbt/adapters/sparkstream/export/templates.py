"""Models as templates: their config blocks, and the Jinja in them that can stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.sparkstream.compiling.templating import LEXER, split_arguments

OF_INCREMENTS = frozenset(
    (
        "materialized",
        "incremental_strategy",
        "incremental_predicates",
        "on_schema_change",
        "unique_key",
        "batch_size",
        "begin",
        "lookback",
    )
)
"""Configs without a meaning for a table."""

VALUES = frozenset(("var", "env_var", "target"))
"""Names in Jinja whose value is the same in a whole run."""

OF_A_RUN = frozenset(("run_started_at", "invocation_id", "thread_id"))
"""Names in Jinja whose value differs between runs."""

Token = tuple[str, str]


@dataclass(frozen=True)
class Piece:
    """A part of a template: text, or one piece of Jinja.

    Attributes:
        kind: `data`, `comment`, `variable` for `{{ }}`, or `block` for `{% %}`.
        text: as it is written.
        tokens: what is between the braces, each with its kind.
    """

    kind: str
    text: str
    tokens: tuple[Token, ...] = ()

    @property
    def is_config(self) -> bool:
        return self.kind == "variable" and [text for _, text in self._words()[:2]] == ["config", "("]

    @property
    def names(self) -> set[str]:
        """The names that the Jinja looks up: not the names of attributes and arguments."""
        words = self._words()
        found = set()
        for i, (kind, text) in enumerate(words):
            before = words[i - 1][1] if i else ""
            behind = words[i + 1][1] if i + 1 < len(words) else ""
            if kind == "name" and before != "." and not (behind == "=" and before in ("(", ",")):
                found.add(text)
        return found

    @property
    def is_value(self) -> bool:
        """True if this is an expression of nothing but variables of the project, the environment or the target."""
        return self.kind == "variable" and bool(self.names) and self.names <= VALUES

    def _words(self) -> list[Token]:
        return [token for token in self.tokens if token[0] != "whitespace"]


def pieces(template: str) -> list[Piece]:
    """The parts of a template, in their order."""
    found: list[Piece] = []
    inside: list[Token] = []
    kind = ""
    for _, token, text in LEXER.lex(template):
        if not kind and token in ("variable_begin", "block_begin", "comment_begin", "raw_begin"):
            kind = token.removesuffix("_begin")
            inside = [(token, text)]
        elif kind:
            inside.append((token, text))
            if token == f"{kind}_end":
                found.append(Piece(kind, "".join(text for _, text in inside), tuple(inside[1:-1])))
                kind = ""
        else:
            found.append(Piece("data", text))
    return found


def names(template: str) -> set[str]:
    """The names that the Jinja of a template looks up, and `model.batch` as one."""
    parts = pieces(template)
    found = {name for piece in parts for name in piece.names}
    batch = any("".join(t for k, t in p.tokens if k != "whitespace").find("model.batch") >= 0 for p in parts)
    return found | ({"model.batch"} if batch else set())


def header(template: str, drop: frozenset[str], add: str = "") -> str:
    """The comments and config blocks of a template, a line for each.

    Args:
        drop: configs to leave out.
        add: a config to put in front, such as `materialized='table'`.
    """
    heads = (piece for piece in pieces(template) if piece.kind == "comment" or piece.is_config)
    lines = [without(piece, drop) if piece.is_config else piece.text for piece in heads]
    return "\n".join(line for line in [f"{{{{ config({add}) }}}}" if add else "", *lines] if line)


def replaced(template: str, new: dict[str, str]) -> str:
    """A template with other text for some of its Jinja.

    Args:
        new: a piece of Jinja as it is written -> the text in its place.
    """
    return "".join(new.get(p.text, p.text) if p.kind == "variable" else p.text for p in pieces(template))


def without_configs(template: str, drop: frozenset[str]) -> str:
    """A template without some of its configs; the same text if it has none of these configs."""
    new = {p.text: without(p, drop) for p in pieces(template) if p.is_config}
    changed = {old: text for old, text in new.items() if old != text}
    for old, text in changed.items():
        template = template.replace(old, text, 1)
    return template


def without(piece: Piece, drop: frozenset[str]) -> str:
    """A config block without some configs; empty if none is left."""
    words = piece.tokens
    start = next(i for i, (_, text) in enumerate(words) if text == "(")
    end = max(i for i, (_, text) in enumerate(words) if text == ")")
    arguments = list(split_arguments(words[start + 1 : end]))
    kept = [left for a in arguments if _name(a) not in drop and (left := _without_meta(a, drop))]
    if kept == arguments:
        return piece.text
    written = ["".join(text for _, text in a) for a in kept]
    if not any(text.strip() for text in written):
        return ""
    last = "" if written[-1].strip() else written.pop()
    inner = ",".join(written).strip("\n ,")
    around = "\n    " if "\n" in "".join(text for _, text in words[start:end]) else ""
    return "{{ config(" + around + inner + last.rstrip(" ") + ("\n" if around else "") + ") }}"


def _without_meta(argument: list[Token], drop: frozenset[str]) -> list[Token]:
    """An argument `meta={'trigger': ..., ...}` without some keys, empty if none is left; another argument as it is."""
    braces = [i for i, (_, text) in enumerate(argument) if text in "{}"]
    if _name(argument) != "meta" or not braces:
        return argument
    start, end = braces[0] + 1, braces[-1]
    entries = list(split_arguments(argument[start:end]))
    kept = [entry for entry in entries if _key(entry) not in drop]
    if kept == entries:
        return argument
    inner = ",".join("".join(text for _, text in entry) for entry in kept).strip()
    return [*argument[:start], ("data", inner), *argument[end:]] if inner else []


def _key(entry: Sequence[Token]) -> str | None:
    """The key of an entry of a dictionary that is written out."""
    return next((text[1:-1] for kind, text in entry if kind == "string"), None)


def _name(argument: Sequence[Token]) -> str | None:
    words = [token for token in argument if token[0] != "whitespace"]
    return words[0][1] if len(words) > 1 and words[1][1] == "=" else None
