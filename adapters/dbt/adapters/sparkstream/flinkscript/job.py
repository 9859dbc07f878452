"""Job of a Flink script: tables, views and INSERTs, settings, and statements without a counterpart in dbt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.flinkscript.escapes import Variable
from dbt.adapters.sparkstream.flinkscript.hidden import (
    REGISTRY_LOGIN,
    REGISTRY_URLS,
    Variables,
    is_harmless,
    is_harmless_setting,
    without_login,
)
from dbt.adapters.sparkstream.flinkscript.leftovers import Leftover, leftover
from dbt.adapters.sparkstream.flinkscript.script import Cursor, Script, Statement
from dbt.adapters.sparkstream.flinkscript.tables import Name, TableDefinition, like, read_columns, read_options
from dbt.adapters.sparkstream.sql.core.source import error_at
from dbt.adapters.sparkstream.sql.core.tokens import Span

DEFAULT = ("default_catalog", "default_database")
"""Catalog and database of a script that names none, as in Flink."""


@dataclass(frozen=True)
class Query:
    """A query of a script.

    Attributes:
        span: its place.
        scope: the catalog and database in force.
        comment: the comments before its statement.
    """

    span: Span
    scope: tuple[str, str]
    comment: str = ""


@dataclass(frozen=True)
class ViewDefinition:
    """A CREATE VIEW.

    Attributes:
        name: its full name.
        query: its query.
        columns: names of its columns, if the view gives them.
        comment: the text of COMMENT.
    """

    name: Name
    query: Query
    columns: tuple[str, ...] = ()
    comment: str = ""


@dataclass(frozen=True)
class Insert:
    """An INSERT INTO, or the query of a CREATE TABLE ... AS.

    Attributes:
        table: the full name of the table that it writes to.
        place: the place of that name in the script.
        query: the rows.
        columns: the columns of the table that it names, if it does.
        constants: columns of PARTITION (column = value), with the value as written.
        streaming: True if SET 'execution.runtime-mode' was streaming.
    """

    table: Name
    place: Span
    query: Query
    columns: tuple[str, ...] = ()
    constants: tuple[tuple[str, str], ...] = ()
    streaming: bool = True


@dataclass
class Job:
    """All that a script does.

    Attributes:
        script: the script.
        tables: by full name, in order.
        views: by full name, in order.
        inserts: in order.
        queries: the queries that stand alone.
        settings: settings by SET, as at the end of the script; a secret is the variable that holds it.
        functions: the names, in lower case, of the functions that CREATE FUNCTION makes.
        leftovers: statements without a counterpart.
    """

    script: Script
    tables: dict[Name, TableDefinition] = field(default_factory=dict)
    views: dict[Name, ViewDefinition] = field(default_factory=dict)
    inserts: list[Insert] = field(default_factory=list)
    queries: list[Query] = field(default_factory=list)
    settings: dict[str, str | Variable] = field(default_factory=dict)
    functions: set[str] = field(default_factory=set)
    leftovers: list[Leftover] = field(default_factory=list)


def read(text: str) -> Job:
    """Reads a script.

    Raises:
        TranslationError: a part of it isn't Flink SQL; with the place.
    """
    job = _Reader(Script.read(text)).job
    variables = Variables()
    hidden = job.script.hidden
    job.tables = {name: _without_secrets(table, variables, hidden) for name, table in job.tables.items()}
    job.views = {name: replace(view, comment=hidden(view.comment)) for name, view in job.views.items()}
    job.settings = {
        key: value
        if isinstance(value, Variable) or is_harmless_setting(key, value)
        else variables.of_setting(key, value)
        for key, value in job.settings.items()
    }
    return job


def _without_secrets(table: TableDefinition, variables: Variables, hidden: Callable[[str], str]) -> TableDefinition:
    """A table whose secrets are variables."""
    options: dict[str, str] = {}
    secrets: dict[str, Variable] = {}
    for option, value in table.options.items():
        address = without_login(value) if option.endswith(REGISTRY_URLS) else value
        if address != value and is_harmless(option, address):
            # Its login can't be in it here, and has a place of its own; Flink has an option for it, too.
            options[option] = address
            secrets.setdefault(REGISTRY_LOGIN, variables.of_option(table.name[2], REGISTRY_LOGIN, value))
        elif is_harmless(option, value):
            options[option] = value
        else:
            secrets[option] = variables.of_option(table.name[2], option, value)
    columns = tuple(replace(column, comment=hidden(column.comment)) for column in table.columns)
    return replace(table, options=options, secrets=secrets, columns=columns, comment=hidden(table.comment))


MODE = "execution.runtime-mode"
_QUERY = ("SELECT", "WITH", "VALUES", "(")


class _Reader:
    def __init__(self, script: Script) -> None:
        self.job = Job(script)
        self._scope = DEFAULT
        self._text = script.text
        for statement in script.statements:
            self._statement(statement)

    def _statement(self, statement: Statement) -> None:
        cursor = Cursor(self._text, statement.tokens)
        for words, method in self._KINDS:
            if cursor.takes(*words):
                method(self, cursor, statement)
                return
        if cursor.sees("CREATE"):
            self._create(cursor, statement)
        elif any(cursor.sees(word) for word in _QUERY):
            self.job.queries.append(self._query(cursor, statement))
        else:
            self._leave(statement)

    def _leave(self, statement: Statement) -> None:
        found = leftover(self.job.script, statement)
        if found is None:
            raise Cursor(self._text, statement.tokens).error(
                f"{statement.words[0]} begins no statement of Flink SQL", "leave it out of the script"
            )
        self.job.leftovers.append(found)

    # -- names -------------------------------------------------------------------------------------
    def _name(self, cursor: Cursor) -> tuple[Name, Span]:
        start = cursor.at
        parts = cursor.names()
        return full_name(parts, self._scope), cursor.tokens.span(range(start, cursor.at))

    def _new(self, name: Name, span: Span, lenient: bool) -> bool:
        """True for a new name; an existing name is refused, or False with IF NOT EXISTS."""
        if name not in self.job.tables and name not in self.job.views:
            return True
        if lenient:
            return False
        raise error_at(
            self._text,
            span,
            f"{name[2]} is made a second time, and a dbt project has one model or source of a name",
            "give one of the two another name",
        )

    def _query(self, cursor: Cursor, statement: Statement) -> Query:
        if not any(cursor.sees(word) for word in _QUERY):
            raise cursor.error("a query is missing here", "write SELECT ..., or VALUES (...)")
        return Query(cursor.rest(), self._scope, statement.comment)

    # -- settings ----------------------------------------------------------------------------------
    def _set(self, cursor: Cursor, statement: Statement) -> None:
        if not cursor.current:
            return  # shows the settings
        key = self._setting(cursor)
        cursor.expects("=")
        first = cursor.at
        if cursor.current is None:
            raise cursor.error("the value of the setting is missing here")
        start, end = cursor.rest()
        token = cursor.tokens[first]
        value = token.text if token.token_type is TokenType.STRING else self._text[start:end]
        self.job.settings[key] = value
        if key == MODE and value.lower() not in ("batch", "streaming"):
            raise error_at(self._text, (start, end), f"there is no mode {value!r}", "write 'batch' or 'streaming'")

    def _reset(self, cursor: Cursor, statement: Statement) -> None:
        if cursor.current:
            self.job.settings.pop(self._setting(cursor), None)
        else:
            self.job.settings.clear()

    def _setting(self, cursor: Cursor) -> str:
        """The key of a setting: in quotes, or as it was written before Flink 1.13."""
        if cursor.current and cursor.current.token_type is TokenType.STRING:
            return cursor.string()
        first = cursor.at
        while cursor.current and not cursor.sees("="):
            cursor.at += 1
        if cursor.at == first:
            raise cursor.error("the key of the setting is missing here", "write SET 'key' = 'value'")
        start, end = cursor.tokens.span(range(first, cursor.at))
        return self._text[start:end]

    @property
    def _streaming(self) -> bool:
        return str(self.job.settings.get(MODE, "streaming")).lower() == "streaming"

    def _use(self, cursor: Cursor, statement: Statement) -> None:
        if cursor.takes("CATALOG"):
            self._scope = (cursor.name(), DEFAULT[1])
        elif cursor.sees("MODULES"):
            self._leave(statement)
        else:
            parts = cursor.names()
            self._scope = (parts[0], parts[1]) if len(parts) > 1 else (self._scope[0], parts[0])

    # -- what is made ------------------------------------------------------------------------------
    def _create(self, cursor: Cursor, statement: Statement) -> None:
        cursor.expects("CREATE")
        if cursor.takes("OR", "REPLACE") or cursor.takes("OR", "ALTER"):
            pass
        temporary = cursor.takes("TEMPORARY")
        if temporary:
            cursor.takes("SYSTEM")
        if cursor.takes("VIEW"):
            self._view(cursor, statement)
        elif cursor.takes("TABLE") or cursor.takes("MATERIALIZED", "TABLE"):
            self._table(cursor, statement)
        else:
            if cursor.takes("FUNCTION"):
                cursor.takes("IF", "NOT", "EXISTS")
                self.job.functions.add(cursor.names()[-1].lower())
            self._leave(statement)

    def _view(self, cursor: Cursor, statement: Statement) -> None:
        lenient = cursor.takes("IF", "NOT", "EXISTS")
        name, span = self._name(cursor)
        columns = tuple(c.name() for c in cursor.group()) if cursor.sees("(") else ()
        comment = cursor.string() if cursor.takes("COMMENT") else ""
        cursor.expects("AS")
        query = self._query(cursor, statement)
        if self._new(name, span, lenient):
            self.job.views[name] = ViewDefinition(name, query, columns, comment)

    def _table(self, cursor: Cursor, statement: Statement) -> None:
        lenient = cursor.takes("IF", "NOT", "EXISTS")
        name, span = self._name(cursor)
        table, named = self._columns(cursor, TableDefinition(name, span, remark=statement.comment))
        while cursor.current:
            if cursor.takes("AS"):
                query = self._query(cursor, statement)
                self.job.inserts.append(Insert(name, span, query, named, (), self._streaming))
            else:
                table = self._clause(cursor, table)
        if self._new(name, span, lenient):
            self.job.tables[name] = table

    def _columns(self, cursor: Cursor, table: TableDefinition) -> tuple[TableDefinition, tuple[str, ...]]:
        """A table with the columns in parentheses; or the table as it is, and names for its query's columns."""
        if not cursor.sees("("):
            return table, ()
        opening = cursor.at
        pieces = cursor.group()
        # AS comes later, and so a query.
        has_query = any(cursor.tokens[i].token_type is TokenType.ALIAS for i in cursor.tokens.level(cursor.at))
        if pieces and all(len(piece.tokens) == 1 for piece in pieces) and has_query:
            return table, tuple(piece.name() for piece in pieces)
        cursor.at = opening
        return read_columns(cursor, table), ()

    def _clause(self, cursor: Cursor, table: TableDefinition) -> TableDefinition:
        """A table with a clause that follows its columns."""
        if cursor.takes("COMMENT"):
            return replace(table, comment=cursor.string())
        if cursor.takes("PARTITIONED", "BY"):
            return replace(table, partitions=tuple(c.name() for c in cursor.group()))
        if cursor.takes("DISTRIBUTED"):
            _skip(cursor, "WITH", "AS", "PARTITIONED")
            return table
        if cursor.sees("WITH", "("):
            cursor.at += 1
            return replace(table, options=read_options(cursor))
        if cursor.takes("FRESHNESS") or cursor.takes("REFRESH_MODE"):
            _skip(cursor, "REFRESH_MODE", "AS")
            return table
        if cursor.takes("LIKE"):
            base, place = self._name(cursor)
            if base not in self.job.tables:
                raise error_at(self._text, place, f"the script has no table {base[2]} before this")
            return like(cursor, table, self.job.tables[base])
        raise cursor.error("this isn't expected in CREATE TABLE")

    def _insert(self, cursor: Cursor, statement: Statement) -> None:
        cursor.takes("TABLE")
        name, span = self._name(cursor)
        constants: list[tuple[str, str]] = []
        if cursor.takes("PARTITION"):
            for piece in cursor.group():
                column = piece.name()
                piece.expects("=")
                start, end = piece.rest()
                constants.append((column, self._text[start:end]))
        columns: tuple[str, ...] = ()
        if cursor.sees("(") and not any(
            cursor.tokens[cursor.at + 1].text.upper() == w for w in _QUERY if cursor.at + 1 < len(cursor.tokens)
        ):
            columns = tuple(c.name() for c in cursor.group())
        query = self._query(cursor, statement)
        self.job.inserts.append(Insert(name, span, query, columns, tuple(constants), self._streaming))

    _KINDS: Sequence[tuple[tuple[str, ...], Callable[[_Reader, Cursor, Statement], None]]] = (
        (("SET",), _set),
        (("RESET",), _reset),
        (("USE",), _use),
        (("INSERT", "INTO"), _insert),
        (("INSERT", "OVERWRITE"), _insert),
        (("EXECUTE", "INSERT", "INTO"), _insert),
        (("EXECUTE", "INSERT", "OVERWRITE"), _insert),
    )


def _skip(cursor: Cursor, *words: str) -> None:
    """Goes to the next of some words, or to the end."""
    while cursor.current and not any(cursor.sees(word) for word in words):
        cursor.at += 1


def full_name(parts: Sequence[str], scope: tuple[str, str]) -> Name:
    """Catalog, database and name of a table or view, by the parts that a script writes in a scope."""
    catalog, database, name = (*scope[: max(0, 3 - len(parts))], *parts)[-3:]
    return catalog, database, name
