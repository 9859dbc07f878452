"""One text to translate: parsed, checked, edited."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, pairwise
from typing import Protocol

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.batches import Batch, check, widened
from dbt.adapters.sparkstream.sql.columns import Resolver, find_cte
from dbt.adapters.sparkstream.sql.dialects import DIALECTS
from dbt.adapters.sparkstream.sql.dialects.spans import SparkSpans, may_have_rules
from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.errors import ArgumentError, TranslationError, TranslationWarning
from dbt.adapters.sparkstream.sql.flink.expressions import FlinkExpressions
from dbt.adapters.sparkstream.sql.flink.typing import FlinkResolver
from dbt.adapters.sparkstream.sql.frame_parser import FramedWindow, LastJoin, holds_frames
from dbt.adapters.sparkstream.sql.framing import Frames
from dbt.adapters.sparkstream.sql.framing.spelling import OpenMLDBSpelling, SQLstreamSpelling
from dbt.adapters.sparkstream.sql.groupwindows import AUXILIARY, GroupWindows, is_call, is_group_window
from dbt.adapters.sparkstream.sql.islands import check_islands
from dbt.adapters.sparkstream.sql.literals import is_column
from dbt.adapters.sparkstream.sql.optimize import Decision, Optimizer, SparkResolver, may_pay
from dbt.adapters.sparkstream.sql.source import Edit, Source, blamed_on, error_at
from dbt.adapters.sparkstream.sql.translate import Schema, Warn, may_hold_frames
from dbt.adapters.sparkstream.sql.windowfunctions import WindowFunctions
from dbt.adapters.sparkstream.sql.windowgaps import sparse_windows
from dbt.adapters.sparkstream.sql.windowgroups import merged_windows
from dbt.adapters.sparkstream.sql.windowjoins import unequal_bounds
from dbt.adapters.sparkstream.sql.windows import WINDOWS, window_functions


class Pass(Protocol):
    """A kind of construct and how it is written for Spark."""

    def edits(self, tree: exp.Expr) -> Iterator[Edit]:
        """The edits that a syntax tree needs."""


MODES = ("batch", "stream")


class Statement:
    """A text in one of our dialects.

    Attributes:
        source: its text and edits.
        trees: the syntax trees of its statements that hold a construct of ours.
    """

    def __init__(
        self,
        source: Source,
        trees: list[exp.Expr],
        dialect: str,
        *,
        spanned: bool = False,
        wall_bounds: bool = False,
    ) -> None:
        self.source = source
        self.trees = trees
        self._spanned = spanned
        self._dialect = dialect
        self._strict = dialect == "flink"
        self._wall_bounds = wall_bounds or self._strict

    @classmethod
    def parse(
        cls,
        sql: str,
        dialect: str,
        *,
        mode: str = "batch",
        whole: bool = False,
        optimize: bool = False,
        reader: SparkStream | None = None,
        wall_bounds: bool = False,
    ) -> Statement:
        """Parses a text.

        Args:
            whole: whether statements without a construct of ours are parsed too.
            optimize: whether rules are to be applied to it.
            reader: reads the dialect in another way than its own class.
            wall_bounds: whether windows have TIMESTAMP_NTZ bounds (see `Resolver`), as those of dialect `flink` have
                anyway: for what such a statement has become.

        Raises:
            TranslationError: it holds our constructs and can't be parsed.
            ValueError: an unknown dialect or mode.
        """
        if dialect not in DIALECTS:
            raise ArgumentError(f"unknown dialect {dialect!r}; there are {', '.join(DIALECTS)}")
        if mode not in MODES:
            raise ArgumentError(f"unknown mode {mode!r}; there are {', '.join(MODES)}")
        reader = reader or DIALECTS[dialect]()
        try:
            tokens = reader.tokenize(sql)
        except TokenError as error:
            start = _unclosed(reader, sql)
            raise error_at(
                sql, (start, start + 1), "a string, quoted name or comment that begins here is never closed"
            ) from error
        if optimize and dialect == "spark" and _only_windows(tokens, sql):
            # Read in the way of the rules at once, and not a second time.
            with suppress(TranslationError):
                trees = _trees(SparkSpans(), tokens, sql, dialect, whole)
                return cls(Source(sql, tokens), trees, dialect, spanned=True, wall_bounds=wall_bounds)
        trees = _trees(reader, tokens, sql, dialect, whole)
        spanned = isinstance(reader, SparkSpans)
        return cls(Source(sql, tokens), trees, dialect, spanned=spanned, wall_bounds=wall_bounds)

    def translated(
        self,
        schema: Schema | None = None,
        *,
        arrival: str | None = None,
        warn: Warn,
        optimize: bool = False,
        request: bool = False,
        batch: Batch | None = None,
    ) -> str:
        """The text with every construct of ours written as Spark SQL.

        Args:
            batch: what dbt cuts its relations to.
            optimize: whether queries over windows may be rewritten to faster ones.
            request: whether tables may have a request's row in them (see `requests`).
        """
        if arrival is not None and not is_column(arrival):
            raise error_at(
                self.source.text,
                (0, 0),
                f"arrival is the name of one column, and {arrival!r} is none",
                "write arrival='seq'; a name that isn't letters, digits and _ stands in backticks: '`my seq`'",
            )
        resolver = FlinkResolver(schema) if self._strict else None
        for warning in self.sparse_windows():
            warn(warning)
        for tree in self.trees:
            for warning in merged_windows(tree, self.source):
                warn(warning)
            for warning in unequal_bounds(tree, self.source, resolver) if resolver else ():
                warn(warning)
        if batch and batch.is_in(self.source, *self.trees):
            text = self._of_batch(batch, schema, arrival, warn)
            with blamed_on(self.source.text):
                statement = Statement.parse(text, "spark", optimize=optimize, wall_bounds=self._wall_bounds)
                return statement.translated(schema, arrival=arrival, warn=lambda _: None, optimize=optimize)
        if optimize and may_pay(self.trees):
            with suppress(TranslationError):
                return self.by_rules(schema, arrival=arrival)[0]
        return self._edited(schema, arrival, request=request)

    def sparse_windows(self) -> list[TranslationWarning]:
        """A warning of the first HOP with time between its windows, if there is one."""
        found = (w for tree in self.trees for w in sparse_windows(tree, self.source, strict=self._strict))
        return list(islice(found, 1))

    def _of_batch(self, batch: Batch, schema: Schema | None, arrival: str | None, warn: Warn) -> str:
        """The text in Spark SQL with windows, whose windows read what they need for the batch."""
        groups = GroupWindows(self.source, self._resolver(schema), strict=self._strict)
        for tree in self.trees:
            for warning in check(self.source, tree, batch, groups):
                warn(warning)
        plain = Statement.parse(self._edited(schema, arrival, keep_windows=True), "spark")
        plain.source.apply([edit for tree in plain.trees for edit in widened(plain.source, tree, batch)])
        return plain.source.render()

    def by_rules(self, schema: Schema | None = None, *, arrival: str | None = None) -> tuple[str, list[Decision]]:
        """The text as Spark SQL, rewritten by rules where they apply; and what they decided.

        The rules read one language: first everything but the windows becomes Spark SQL, then the windows do.

        Raises:
            TranslationError: what is wrong, or there is something in it that the rules' parser doesn't know.
        """
        if self._spanned:
            return self._optimized(schema)
        text = self._edited(schema, arrival, keep_windows=True)
        statement = Statement.parse(text, "spark", reader=SparkSpans(), wall_bounds=self._wall_bounds)
        return statement._optimized(schema)

    def _optimized(self, schema: Schema | None) -> tuple[str, list[Decision]]:
        resolver = SparkResolver(schema, wall_bounds=self._wall_bounds)
        optimizer = Optimizer(self.source, resolver)
        windows = WindowFunctions(self.source, resolver, skipped=optimizer.handled)
        self.source.apply([edit for tree in self.trees for one in (optimizer, windows) for edit in one.edits(tree)])
        return self.source.render(), optimizer.decisions

    def _edited(
        self, schema: Schema | None, arrival: str | None, *, keep_windows: bool = False, request: bool = False
    ) -> str:
        """The text as Spark SQL; the windows in one spelling if they are kept."""
        source = Source(self.source.text, self.source.tokens)
        resolver = self._resolver(schema)
        # A pass walks the whole tree: none that would find nothing.
        passes: list[Pass] = [WindowFunctions(source, resolver, keep=keep_windows)]
        if self._strict or _may_group(source.tokens, _calls(source.tokens)):
            passes.append(GroupWindows(source, resolver, strict=self._strict))
        if isinstance(resolver, FlinkResolver):
            passes.append(FlinkExpressions(source, resolver))
        elif self._dialect != "spark" or _framed(source.tokens, source.text):
            passes.append(Frames(source, resolver, dialect=self._dialect, arrival=arrival, request=request))
        if self._dialect == "openmldb":
            passes.append(OpenMLDBSpelling(source, resolver))
        if self._dialect == "sqlstream":
            passes.append(SQLstreamSpelling(source, arrival=arrival))
        source.apply([edit for tree in self.trees for one in passes for edit in one.edits(tree)])
        return source.render()

    def _resolver(self, schema: Schema | None) -> Resolver:
        return FlinkResolver(schema) if self._strict else Resolver(schema, wall_bounds=self._wall_bounds)

    def windowed(self, schema: Schema | None = None) -> str:
        """The text as Spark SQL but for its windows."""
        return self._edited(schema, None, keep_windows=True)

    def tables(self) -> list[str]:
        """The tables whose columns matter, as the text names them."""
        found: dict[str, None] = {}
        for tree in self.trees:
            for table in self._tables(tree):
                span = self.source.span(table.parts[0])[0], self.source.span(table.parts[-1])[1]
                found[self.source.text[slice(*span)]] = None
        return list(found)

    def _tables(self, tree: exp.Expr) -> Iterator[exp.Table]:
        functions = window_functions(tree)
        grouped = any(is_call(n, AUXILIARY) for n in tree.find_all(exp.Anonymous)) or any(
            is_group_window(n, self._strict) for g in tree.find_all(exp.Group) for n in g.find_all(exp.Anonymous)
        )
        framed = self._dialect != "spark" or tree.find(FramedWindow, LastJoin) is not None
        for table in tree.find_all(exp.Table):
            if isinstance(table.this, exp.Identifier) and not find_cte(table) and table.arg_key != "into":
                within_query = table.find_ancestor(exp.Select, exp.SetOperation)
                if within_query and (functions or grouped or framed):
                    yield table


def _trees(reader: SparkStream, tokens: list[Token], sql: str, dialect: str, whole: bool) -> list[exp.Expr]:
    """The syntax trees of the statements of a text that hold a construct of ours; of all of them if `whole`."""
    trees = []
    for chunk in _chunks(tokens):
        _check_query(reader, chunk, sql)
        check_islands(chunk, sql)
        too_long = next((t for t in chunk if t.token_type is TokenType.NUMBER and len(t.text) > _LONGEST_NUMBER), None)
        if too_long is not None and (dialect != "spark" or whole or _calls(chunk) or _framed(chunk, sql)):
            raise error_at(
                sql,
                (too_long.start, too_long.end + 1),
                f"this number has {len(too_long.text):,} digits, and Spark takes 38",
                "write a shorter one",
            )
        calls = _calls(chunk)
        certain = whole or dialect != "spark" or _window_in_from(chunk, calls) or _framed(chunk, sql)
        if certain or calls:
            tree = _parse_chunk(reader, chunk, sql, certain)
            if tree is not None:
                trees.append(tree)
    return trees


_LONGEST_NUMBER = 1000
"""Digits of a number: a double may be written with some hundreds."""


def _check_query(reader: SparkStream, tokens: list[Token], sql: str) -> None:
    """Refuses statements that only the other system has."""
    first = tokens[0].text.upper()
    for (word, second), (message, hint) in reader.FOREIGN.items():
        if first == word and (second is None or (len(tokens) > 1 and tokens[1].text.upper().startswith(second))):
            raise error_at(sql, (tokens[0].start, tokens[-1 if second else 0].end + 1), message, hint)


def _unclosed(reader: Dialect, sql: str) -> int:
    """Where the string, quoted name or comment begins that goes on to the end of a text."""
    tokenizer = reader.tokenizer_class(dialect=reader)
    with suppress(TokenError):
        tokenizer.tokenize(sql)
    known = tokenizer.tokens[-1].end + 1 if tokenizer.tokens else 0
    for at in range(known, len(sql)):
        if sql[at] in "'\"`" or sql.startswith("/*", at):
            try:
                reader.tokenize(sql[known : at + 2 if sql[at] == "/" else at + 1])
            except TokenError:
                return at
    return known


def _chunks(tokens: list[Token]) -> Iterator[list[Token]]:
    """The tokens of each statement of a text."""
    semicolon = TokenType.SEMICOLON
    chunk: list[Token] = []
    for token in tokens:
        if token.token_type is semicolon:
            if chunk:
                yield chunk
            chunk = []
        else:
            chunk.append(token)
    if chunk:
        yield chunk


def _calls(tokens: list[Token]) -> list[int]:
    """Where a window function, or an auxiliary function of one, is called."""
    opening, names = TokenType.L_PAREN, (TokenType.VAR, TokenType.SESSION)
    return [
        i
        for i, (token, following) in enumerate(pairwise(tokens))
        if following.token_type is opening and token.token_type in names and token.text.upper() in _CALLED
    ]


_CALLED = {*WINDOWS, *AUXILIARY}


def _window_in_from(tokens: list[Token], calls: list[int]) -> bool:
    """Whether a window function stands where only a table can."""
    for i in calls:
        before = tokens[i - 1].token_type if i else None
        table = before == TokenType.L_PAREN and i > 1 and tokens[i - 2].token_type == TokenType.TABLE
        if tokens[i].text.upper() in WINDOWS and (table or before in _BEFORE_RELATION):
            return True
    return False


_BEFORE_RELATION = (TokenType.FROM, TokenType.JOIN, TokenType.LT)


def _may_group(tokens: list[Token], calls: list[int]) -> bool:
    """Whether a group window may be among the calls, or one of its auxiliary functions."""
    before = (TokenType.GROUP_BY, TokenType.COMMA, TokenType.L_PAREN)
    return any(
        tokens[i].text.upper() in AUXILIARY
        or (tokens[i - 1].token_type in before and not (i > 1 and tokens[i - 2].token_type == TokenType.TABLE))
        for i in calls
    )


def _only_windows(tokens: list[Token], sql: str) -> bool:
    """Whether a Spark statement holds nothing of ours but window table functions, one with rules among them."""
    calls = _calls(tokens)
    # To the rules' parser an aggregate in close_on is a function like any other.
    ruled = any(may_have_rules(tokens, i) for i in calls) and "close_on" not in sql.lower()
    return ruled and not _may_group(tokens, calls) and not _framed(tokens, sql)


def _framed(tokens: list[Token], sql: str) -> bool:
    """Whether a Spark statement holds a frame of ours or LAST JOIN."""
    text = sql.lower()
    return (may_hold_frames(text) or "last" in text) and holds_frames(tokens)


def _parse_chunk(reader: SparkStream, tokens: list[Token], sql: str, certain: bool) -> exp.Expr | None:
    """Parses one statement, or the query in it when its head is none that sqlglot knows."""
    faults: list[ParseError] = []
    tokens = _as_spark_reads(tokens)
    for narrowed in (list, _query, _parenthesised):
        part = narrowed(tokens)
        if part:
            try:
                return _parse(reader, part, sql)
            except ParseError as error:
                faults.append(error)
    if not certain:
        return None
    fault = faults[1 if len(faults) > 1 and tokens[0].token_type not in _QUERY else 0]
    raise _translation_error(fault, sql, reader.SHAPE)


def _parse(reader: Dialect, tokens: list[Token], sql: str) -> exp.Expr | None:
    parser = reader.parser(error_level=ErrorLevel.IMMEDIATE)
    try:
        trees = parser.parse(tokens, sql)
    except RecursionError:
        deepest = _deepest(tokens)
        raise error_at(
            sql,
            (deepest.start, deepest.end + 1),
            "this statement is nested too deeply to be read",
            "take its innermost part into a CTE of its own, or into a model",
        ) from None
    if not trees:  # sqlglot ends at an ELSE that nothing is before
        parser.raise_error("this isn't expected here", tokens[0])
    return trees[0]


def _deepest(tokens: list[Token]) -> Token:
    """The token that the most parentheses are around."""
    depth, most, found = 0, 0, tokens[0]
    for token in tokens:
        depth += (token.token_type in _OPENING) - (token.token_type in _CLOSING)
        if depth > most:
            most, found = depth, token
    return found


_OPENING = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE)
_CLOSING = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END)


_QUERY = (TokenType.SELECT, TokenType.WITH)


def _as_spark_reads(tokens: list[Token]) -> list[Token]:
    """The tokens with what Spark and sqlglot read differently made so that sqlglot reads it: only for parsing.

    WINDOW is a name unless a window is defined behind it, and `>>>` is one operator.
    """
    out: list[Token] = []
    window, greater = TokenType.WINDOW, TokenType.GT
    if not any(t.token_type is window or t.token_type is greater for t in tokens):
        return tokens
    for i, token in enumerate(tokens):
        if token.token_type not in (TokenType.WINDOW, TokenType.GT):
            out.append(token)
            continue
        kinds = [t.token_type for t in tokens[i + 1 : i + 3]]
        if token.token_type == TokenType.WINDOW and TokenType.ALIAS not in kinds[1:]:
            token = Token(TokenType.VAR, token.text, token.line, token.col, token.start, token.end, token.comments)
        elif token.token_type == TokenType.GT and len(out) > 1 and _shift(out[-2], out[-1]) and _shift(out[-1], token):
            continue
        out.append(token)
    return out


def _shift(left: Token, right: Token) -> bool:
    return left.token_type == right.token_type == TokenType.GT and left.end + 1 == right.start


def _parenthesised(tokens: list[Token]) -> list[Token]:
    """The query in parentheses around the first window function, innermost."""
    at = next((i for i in _calls(tokens) if tokens[i].text.upper() in WINDOWS), 0)
    depth = 0
    for i in range(at - 1, -1, -1):
        kind = tokens[i].token_type
        depth += (kind == TokenType.R_PAREN) - (kind == TokenType.L_PAREN)
        if depth < 0 and tokens[i + 1].token_type in _QUERY:
            level = 0
            for j in range(i, len(tokens)):
                kind = tokens[j].token_type
                level += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
                if level == 0:
                    return tokens[i + 1 : j]
            return []
    return []


def _query(tokens: list[Token]) -> list[Token]:
    """The statement's tokens from its first SELECT or WITH outside parentheses, if that isn't where it begins."""
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token.token_type == TokenType.L_PAREN) - (token.token_type == TokenType.R_PAREN)
        if depth == 0 and token.token_type in _QUERY:
            return tokens[i:] if i else []
    return []


def _translation_error(error: ParseError, sql: str, hint: str | None) -> TranslationError:
    span = getattr(error, "span", None) or (len(sql), len(sql))
    description = str((error.errors[0].get("description") if error.errors else None) or error)
    if description.startswith("Required keyword"):
        description = "something is missing here"
    elif description.startswith("Expected table name"):
        description = "the name of a table is missing here"
    elif "Unexpected token" in description:
        description = "this isn't expected here"
    return error_at(sql, span, f"this SQL can't be parsed: {description}", hint)
