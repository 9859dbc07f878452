"""A query of the script: which tables and views it names, and where; and texts with these replaced."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.flinkscript.escapes import jinja_text
from dbt.adapters.sparkstream.flinkscript.job import Query, full_name
from dbt.adapters.sparkstream.flinkscript.script import COMMENT
from dbt.adapters.sparkstream.flinkscript.tables import Name
from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.core.names.scope import Columns, find_cte
from dbt.adapters.sparkstream.sql.core.schema import Schema
from dbt.adapters.sparkstream.sql.core.source import error_at
from dbt.adapters.sparkstream.sql.core.tokens import Span
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.dialects.flink import Flink, qualifier, rowtimes
from dbt.adapters.sparkstream.sql.dialects.flinkwords import flink_name
from dbt.adapters.sparkstream.sql.passes.resolvers import resolver_of
from dbt.adapters.sparkstream.sql.statement import Statement


@dataclass(frozen=True)
class Text:
    """A text of a model, with its Jinja and without.

    Attributes:
        jinja: the text in the model.
        plain: with names in the place of ref() and source(), for the translator.
    """

    jinja: str = ""
    plain: str = ""

    def __add__(self, other: Text) -> Text:
        return Text(self.jinja + other.jinja, self.plain + other.plain)


_BLANK = re.compile(rf"(?:\s|{COMMENT.pattern})*")
_WORDS = frozenset(keyword.split()[0] for keyword in Flink.Tokenizer.KEYWORDS)


def named(name: str) -> str:
    """A name for SQL, in backticks where it needs them: a word of SQL does, too."""
    return backticked(name) if name.upper() in _WORDS else flink_name(name)


def sql(text: str) -> Text:
    """SQL as a model's text: dbt reads no Jinja in it."""
    return Text(jinja_text(text), text)


@dataclass(frozen=True)
class Use:
    """A name in FROM that isn't a CTE's.

    Attributes:
        name: the full name of the table or view.
        written: the name as it is written.
        span: its place in the script.
        needs_alias: True if it qualifies columns and has no alias.
        windowed: True in the arguments of a window function, where there are no aliases.
        versioned: True if FOR SYSTEM_TIME AS OF follows it.
        as_of: the place of that clause, up to the end of its time.
        time: the column that is the clause's time; empty for another expression.
    """

    name: Name
    written: str
    span: Span
    needs_alias: bool
    windowed: bool
    versioned: bool = False
    as_of: Span = (0, 0)
    time: str = ""


@dataclass(frozen=True)
class ProcessingTime:
    """A column of a SELECT that is PROCTIME().

    Attributes:
        name: its name in the SELECT.
        span: its place.
        cut: its place with the comma that is left out with it.
        outermost: True in the outermost SELECT.
    """

    name: str
    span: Span
    cut: Span
    outermost: bool


class Parsed:
    """A query of a script, parsed.

    Attributes:
        tree: its syntax tree.
        uses: the names that it reads, in the order of the text.
        hints: places of hints after the names of tables, which the model leaves out.
        proctimes: columns of processing time that it gives in Flink, and not here.

    Args:
        text: the script.
        query: its place.
        without: places of other parts that the model leaves out.
        proctimes: the columns of processing time that are left out of its outermost SELECT.
        times: the event time of each `$rowtime`, by its place.

    Raises:
        TranslationError: it can't be parsed.
    """

    def __init__(
        self,
        text: str,
        query: Query,
        without: Iterable[Span] = (),
        proctimes: frozenset[str] = frozenset(),
        times: Mapping[Span, str] = MappingProxyType({}),
    ) -> None:
        self.text = text
        self.query = query
        self.proctimes = proctimes
        start, end = query.span
        # What is before it becomes white space, so that places in the query are places in the script.
        self.blanked = _blanked(text[:start]) + text[start:end]
        self.hints = list(_hints(self.blanked))
        gone = [*self.hints, *without]
        self._changed = sorted([*((span, "") for span in gone), *((span, named(time)) for span, time in times.items())])
        for first, last in gone:
            self.blanked = self.blanked[:first] + " " * (last - first) + self.blanked[last:]
        statement = Statement.parse(self.blanked, "flink", whole=True)
        self.tree: exp.Expr = statement.trees[0]
        self.source = statement.source
        for name in list(rowtimes(self.tree)):
            if time := times.get(self.source.span(name)):
                name.set("this", time)
        self.uses = sorted(self._uses(), key=lambda use: use.span)

    @property
    def begins_with(self) -> str:
        """Its first word, in capitals."""
        return self.source.tokens[0].text.upper()

    def _uses(self) -> Iterable[Use]:
        qualified = {column.table.casefold() for column in self.tree.find_all(exp.Column)}
        for table in self.tree.find_all(exp.Table):
            parts = [*qualifier(table), *table.parts]
            if not isinstance(table.this, exp.Identifier) or (len(parts) == 1 and find_cte(table)):
                continue
            span = self.source.span(parts[0])[0], self.source.span(parts[-1])[1]
            windowed = isinstance(table.parent, WindowFunction)
            alias = table.args.get("alias")
            yield Use(
                full_name([part.name for part in parts], self.query.scope),
                self.text[slice(*span)],
                span,
                not alias and not windowed and table.name.casefold() in qualified,
                windowed,
                *self._as_of(table, span[1]),
            )

    def _as_of(self, table: exp.Table, end: int) -> tuple[bool, Span, str]:
        """True if FOR SYSTEM_TIME AS OF follows a table's name, its place, and the column that is its time, if any."""
        as_of = table.args.get("version")
        if as_of is None:
            return False, (0, 0), ""
        time = as_of.expression
        last = self.source.span(as_of)[1]
        behind = self.text[end:last]
        begin = end + len(behind) - len(behind.lstrip())
        return True, (begin, last), time.name if isinstance(time, exp.Column) else ""

    def rendered(self, relation: Callable[[Use], Text]) -> Text:
        """The query's text with the names of its inputs replaced.

        Args:
            relation: returns the text in place of a name.
        """
        at, end = self.query.span
        found = Text()
        for use in self.uses:
            read = relation(use)
            found += sql(self._kept(at, use.span[0])) + read
            if use.needs_alias and not use.versioned and read.plain.casefold() != use.name[2].casefold():
                found += sql(f" AS {named(use.name[2])}")
            at = use.span[1]
        return found + sql(self._kept(at, end))

    def _kept(self, start: int, end: int) -> str:
        """A piece of the script without the parts that a model leaves out, and with columns in place of `$rowtime`."""
        kept = []
        for (first, last), new in self._changed:
            if start <= first < end:
                before = self.text[start:first]
                kept.append(before + new if new else before.rstrip(" "))
                start = last
        return "".join([*kept, self.text[start:end]])

    @property
    def whole(self) -> str:
        """The query for the translator, after white space in place of the script before it."""
        text = self.blanked
        for (first, last), new in reversed(self._changed):
            text = text[:first] + new + text[last:] if new else text
        return text

    @property
    def rowtimes(self) -> Iterable[tuple[Span, list[Name]]]:
        """Places of `$rowtime`, each with the tables whose event time it may be."""
        for name in rowtimes(self.tree):
            within: exp.Expr | None = name.parent
            if not isinstance(within, WindowFunction):
                within = name.find_ancestor(exp.Select)
            spans = {self.source.span(table.parts[-1])[1]: table for table in (within or self.tree).find_all(exp.Table)}
            read = {use.name: spans[use.span[1]].alias_or_name for use in self.uses if use.span[1] in spans}
            of_one = name.parent.table.casefold() if isinstance(name.parent, exp.Column) else ""
            said = [each for each, alias in read.items() if alias.casefold() == of_one]
            yield self.source.span(name), said or list(read)

    @property
    def first_item(self) -> str:
        """Text of the first item in its list of SELECT."""
        select = self.tree.find(exp.Select)
        assert select is not None
        return self._kept(*self.source.span(select.expressions[0]))

    def columns(self, schema: Schema) -> Columns:
        """The columns of its rows, as far as they are known."""
        return resolver_of("flink", schema, wall_bounds=True).columns(self.tree)

    def refuse_functions(self, names: set[str]) -> None:
        """Refuses calls of functions that the script makes, and of PROCTIME.

        Raises:
            TranslationError: there is one.
        """
        for call in self.tree.find_all(exp.Anonymous):
            if call.name.upper() == "PROCTIME":
                raise error_at(
                    self.text,
                    self.source.span(call),
                    "PROCTIME() has no meaning here: a table doesn't know when its rows arrived",
                    "use a column that holds when the event happened",
                )
            if call.name.lower() in names:
                raise error_at(
                    self.text,
                    self.source.span(call),
                    f"{call.name} is a function that CREATE FUNCTION makes of Flink's classes, and Spark hasn't it",
                    "make a function of Spark or a macro of it, and take `enabled=false` out",
                )

    def processing_times(self, names: Iterable[str], outermost: bool) -> list[ProcessingTime]:
        """The columns of processing time in lists of SELECT; in queries around, their names are processing time, too.

        Args:
            names: columns of the query's inputs that are PROCTIME().
            outermost: True if they may be left out of the outermost SELECT.
        """
        known = {name.casefold() for name in names}
        found: dict[Span, ProcessingTime] = {}
        count = -1
        while len(found) > count:  # a query around may select what one in it gives
            count = len(found)
            for select in self.tree.find_all(exp.Select):
                whole = select is self.tree
                if (whole and not outermost) or isinstance(select.parent, exp.SetOperation):
                    continue
                times = [item for item in select.expressions if _is_processing_time(item, known)]
                if len(times) < len(select.expressions):
                    for item in times:
                        span = self.source.span(item)
                        found[span] = ProcessingTime(item.alias_or_name, span, self._with_comma(span), whole)
                    known |= {item.alias_or_name.casefold() for item in times}
        return list(found.values())

    def _with_comma(self, item: Span) -> Span:
        """Place of an item of a list with the comma before it, or else after it."""
        start, end = item
        tokens = self.source.tokens
        before, behind = tokens[tokens.at(start) - 1], tokens[tokens.at(end - 1) + 1]
        return (before.start, end) if before.token_type == TokenType.COMMA else (start, behind.end + 1)

    def refuse_columns(self, names: Iterable[str]) -> None:
        """Refuses columns of processing time.

        Raises:
            TranslationError: there is one.
        """
        gone = {name.casefold() for name in names}
        for column in self.tree.find_all(exp.Column, exp.Identifier):
            is_time = isinstance(column, exp.Column) or column.arg_key == "timecol"  # of a window function
            if is_time and column.name.casefold() in gone:
                raise error_at(
                    self.text,
                    self.source.span(column),
                    f"{column.name} is PROCTIME(): a table doesn't know when its rows arrived",
                    "use a column that holds when the event happened; a lookup join by it is a plain join here",
                )

    @property
    def has_star(self) -> bool:
        """True if its outermost SELECT has a star."""
        select = self.tree.find(exp.Select)
        return select is not None and any(projection.is_star for projection in select.expressions)


def _is_processing_time(item: exp.Expr, names: set[str]) -> bool:
    value = item.unalias()
    if isinstance(value, exp.Column):
        return value.name.casefold() in names
    return isinstance(value, exp.Anonymous) and value.name.upper() == "PROCTIME"


def computed(text: str, expression: Span, table: str) -> Parsed:
    """The expression of a computed column as a query over its table; its places are places in the script.

    Args:
        text: the script.
        expression: the expression's place.
        table: the table's name in the query.
    """
    start, end = expression
    # CREATE is before it, so there is room for SELECT.
    blank = _blanked(text[:start])
    at = blank.rfind(" " * len("SELECT"), 0, start - 1)
    query = f"{blank[:at]}SELECT{blank[at + len('SELECT') :]}{text[start:end]} FROM {table}"
    return Parsed(query, Query((at, len(query)), ("", "")))


def _blanked(text: str) -> str:
    """White space with the line breaks of a text."""
    return re.sub(r"[^\n]", " ", text)


def hints_behind(text: str, end: int) -> Iterable[Span]:
    """Places of hints after the last word of a query, which are no part of it."""
    blank = _BLANK.match(text, end)
    assert blank is not None
    return _hints_in(text, *blank.span())


def _hints(text: str) -> Iterable[Span]:
    """Places of `/*+ OPTIONS(...) */` after the name of a table: sqlglot takes it for a comment there."""
    end = 0
    for token in Flink().tokenize(text):
        yield from _hints_in(text, end, token.start)
        end = token.end + 1


def _hints_in(text: str, start: int, end: int) -> Iterable[Span]:
    """Places of hints between two tokens."""
    return (comment.span() for comment in COMMENT.finditer(text, start, end) if comment[0].startswith("/*+"))
