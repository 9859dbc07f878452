"""Statements of a client: translated, or passed through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot.errors import TokenError
from sqlglot.tokens import Token

from dbt.adapters.sparkstream.spark.descriptions import Descriptions, after_comments
from dbt.adapters.sparkstream.sql import TranslationError, TranslationWarning, translate
from dbt.adapters.sparkstream.sql.dialects import DIALECTS

DIALECT = "sparkstream.sql.dialect"
"""Setting for the dialect of a session's statements: `SET sparkstream.sql.dialect = flink`."""

_BEGINS = ("SELECT", "WITH", "VALUES", "(")
_HOLDS = ("CREATE", "CACHE", "INSERT", "EXPLAIN", "DESCRIBE", "DESC")
"""First words of the other statements that have a query in them."""


class UnknownSetting(Exception):
    """Error of a SET of an unknown dialect, or of an unknown key of ours."""


BLOCK = "<< window_sql("
"""Beginning of a block of the macro `window_sql`: `<< window_sql(flink, 8) SELECT 1 >>` has a text of 8 characters."""
_END = " >>"


@dataclass(frozen=True)
class _Block:
    """A text in another dialect within a statement.

    Attributes:
        dialect: its dialect.
        start, end: its place in the statement.
        options: further arguments of `translate`.
    """

    dialect: str
    start: int
    end: int
    options: dict[str, Any]

    @classmethod
    def read(cls, sql: str, begin: int) -> _Block | None:
        """The block that begins at a place in a statement; None if none does, as in a string or a comment."""
        header, closed, _ = sql[begin + len(BLOCK) :].partition(") ")
        dialect, *others = (part.strip() for part in header.split(","))
        options: dict[str, Any] = dict(part.partition(" => ")[::2] for part in others[1:])
        if not closed or dialect not in DIALECTS or not others or not others[0].isdecimal() or len(others[0]) > 9:
            return None
        start = begin + len(BLOCK) + len(header) + len(closed)
        end = start + int(others[0])
        if not sql.startswith(_END, end) or not options.keys() <= {"arrival", "optimize"} or not _outside(sql[:begin]):
            return None
        if "optimize" in options:
            options["optimize"] = options["optimize"] == "true"
        return cls(dialect, start, end, options)


def _outside(text: str) -> bool:
    """True if a text ends outside of strings and comments."""
    try:
        tokens = DIALECTS["spark"]().tokenize(f"{text} x")
    except TokenError:
        return False
    return tokens[-1].text == "x" and tokens[-1].start == len(text) + 1


@dataclass
class Translator:
    """Translator of one session's statements.

    Attributes:
        rows_of: sends a statement of ours to the session's Spark and returns the rows.
        warn: takes warnings of the translation.
        dialect: the dialect of the session's statements.
    """

    rows_of: Callable[[str], Sequence[Sequence[Any]]]
    warn: Callable[[TranslationWarning], None]
    dialect: str = "spark"

    def __call__(self, sql: str) -> str:
        """A statement as Spark SQL; the same text where there is nothing to translate.

        Raises:
            TranslationError: it can't be translated.
            UnknownSetting: it sets an unknown dialect, or an unknown key of ours.
        """
        self._take_setting(sql)
        described = Descriptions(self.rows_of)  # for one statement: the next one finds what other clients have changed
        sql = self._with_blocks(sql, described)
        start = 0 if self.dialect == "spark" else query_start(sql)
        if start is None:
            return sql
        return sql[:start] + self._translated(sql, start, len(sql), described, self.dialect)

    def _translated(self, sql: str, start: int, end: int, described: Descriptions, dialect: str, **options: Any) -> str:
        """A part of a statement as Spark SQL."""
        # As many lines and columns before it as the statement has, so that errors have their place in that.
        blank = "".join("\n" if c == "\n" else " " for c in sql[:start])
        try:
            found = translate(blank + sql[start:end], dialect, schema=described.of, warn=self.warn, **options)
        except TranslationError as error:
            error.source_line = sql.split("\n")[error.line - 1]
            raise
        return found.removeprefix(blank)

    def _with_blocks(self, sql: str, described: Descriptions) -> str:
        """A statement with the blocks of the macro `window_sql` translated, each by its own dialect."""
        written, at = "", 0
        while (begin := sql.find(BLOCK, at)) >= 0:
            block = _Block.read(sql, begin)
            if block is None:
                written, at = written + sql[at : begin + len(BLOCK)], begin + len(BLOCK)
                continue
            written += sql[at:begin]
            written += self._translated(sql, block.start, block.end, described, block.dialect, **block.options)
            at = block.end + len(_END)
        return written + sql[at:] if at else sql

    def _take_setting(self, sql: str) -> None:
        word, key, value = _setting(sql)
        if word == "SET" and value is not None and key.lower().startswith("sparkstream."):
            self.dialect = dialect_named(value, key)
        elif word == "RESET" and key in ("", DIALECT):
            self.dialect = "spark"


def dialect_named(value: str, key: str = DIALECT) -> str:
    """The dialect that a session sets.

    Raises:
        UnknownSetting: there is no such dialect, or no such key.
    """
    name = value.strip().removesuffix(";").strip().strip("'\"`").lower()
    if key != DIALECT:
        raise UnknownSetting(f"there is no setting {key}\n  write SET {DIALECT} = {name}")
    if name not in DIALECTS:
        raise UnknownSetting(f"there is no SQL dialect {name}\n  {DIALECT} is one of {', '.join(DIALECTS)}")
    return name


def _setting(sql: str) -> tuple[str, str, str | None]:
    """The word, the key and the value of a SET or RESET; empty texts of other statements."""
    text = after_comments(sql)
    if not text[:5].lower().startswith(("set", "reset")):
        return "", "", None
    head, equals, value = text.partition("=")
    try:
        word, *key = (token.text for token in DIALECTS["spark"]().tokenize(head) if token.text != ";")
    except TokenError:
        return "", "", None
    return word.upper(), "".join(key), value if equals else None


def query_start(sql: str) -> int | None:
    """Start of a statement's query; None without one, as in SHOW TABLES."""
    try:
        tokens = DIALECTS["spark"]().tokenize(sql)
    except TokenError:  # of the dialect's own texts; the translator says what is wrong
        return 0
    words = [token.text.upper() for token in tokens]
    if not words or words[0] in _BEGINS:
        return 0
    if words[0] not in _HOLDS:
        return None
    return next((tokens[i].start for i in _at_top(tokens) if i and words[i] in _BEGINS and _begins(words, i)), None)


def _at_top(tokens: Sequence[Token]) -> list[int]:
    """Indexes of the tokens outside parentheses; their opening parentheses are among them."""
    depth, found = 0, []
    for i, token in enumerate(tokens):
        if not depth:
            found.append(i)
        depth += (token.text == "(") - (token.text == ")")
    return found


def _begins(words: Sequence[str], i: int) -> bool:
    """True if a query begins at this word; a parenthesis begins one only after AS, else a list of columns."""
    return words[i] in ("SELECT", "VALUES") or words[i - 1] == "AS" or (words[i] == "WITH" and words[i + 1] != "(")
