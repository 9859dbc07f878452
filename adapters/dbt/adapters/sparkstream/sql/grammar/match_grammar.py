"""The grammar of MATCH_RECOGNIZE, as Flink has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.sql.core.interval import Interval, IntervalError, read_interval
from dbt.adapters.sparkstream.sql.core.matching import After, Definition, Element, MatchRecognize, RowPattern, Skip
from dbt.adapters.sparkstream.sql.core.source import SPAN
from dbt.adapters.sparkstream.sql.grammar.span_parser import ForeignParser
from dbt.adapters.sparkstream.sql.grammar.spans import span_of

_USAGE = (
    "write t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.x AS x ONE ROW PER MATCH "
    "AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C) DEFINE B AS B.x > A.x) AS m"
)
_PATTERN = "Flink has no groups, no |, no PERMUTE and no {- -} in it: write PATTERN (A B+ C)"
_MOST = 1000
"""Rows that a quantifier may count: each is a state of the automaton."""
_T = TypeVar("_T")


class MatchGrammar(ForeignParser):
    """Reads MATCH_RECOGNIZE behind a relation."""

    def _parse_table(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        first = self._curr
        relation = super()._parse_table(*args, **kwargs)
        if relation is None or self._curr.token_type != TokenType.MATCH_RECOGNIZE:
            return relation
        return self._parse_match(first, relation)

    def _parse_match(self, first: Token, relation: exp.Expr) -> MatchRecognize:
        word = self._curr
        self._advance()
        if not self._match(TokenType.L_PAREN):
            self._expect("its clauses in parentheses")
        keys = self._csv(self._parse_match_key) if self._match(TokenType.PARTITION_BY) else []
        order = self._csv(self._parse_ordered) if self._match(TokenType.ORDER_BY) else []
        if not order:
            raise self._error(
                "MATCH_RECOGNIZE needs ORDER BY", "order by the time column, ascending: ORDER BY ts", word
            )
        measures = self._csv(self._parse_measure) if self._match_text_seq("MEASURES") else []
        if not measures:
            raise self._error("MATCH_RECOGNIZE needs MEASURES", "write MEASURES A.x AS x, LAST(B.x) AS y", word)
        self._parse_rows_per_match()
        skip = self._parse_skip()
        if not self._match_text_seq("PATTERN"):
            self._expect("PATTERN")
        elements = self._parse_pattern()
        within = self._parse_within() if self._match_text_seq("WITHIN") else None
        if not self._match_text_seq("DEFINE"):
            self._expect("DEFINE")
        define = self._csv(self._parse_definition)
        if not self._match(TokenType.R_PAREN):
            self._expect(", or )")
        node = MatchRecognize(
            this=relation,
            partition_by=keys,
            order=order,
            measures=measures,
            define=define,
            pattern_value=RowPattern(tuple(elements), skip, within),
        ).update_positions(word)
        node.meta[SPAN] = span_of(first, self._prev)
        alias = self._parse_table_alias()
        if alias:
            node.set("alias", alias)
        return node

    # -- clauses -----------------------------------------------------------------------------------------
    def _parse_match_key(self) -> exp.Column:
        first = self._curr
        key = self._parse_disjunction()
        if not isinstance(key, exp.Column):
            raise self._error(
                "PARTITION BY of MATCH_RECOGNIZE takes columns", "compute it in a subquery", first, self._prev
            )
        return key

    def _parse_measure(self) -> exp.Alias:
        first = self._curr
        self._match_text_seq("FINAL")
        value = self._parse_disjunction()
        if value is None or not self._match(TokenType.ALIAS):
            raise self._error("a measure needs a name", "write MEASURES A.x AS x", first, self._prev)
        name = self._parse_id_var(any_token=True)
        if name is None:
            self._expect("the name of the measure")
        alias = exp.Alias(this=value, alias=name)
        alias.meta[SPAN] = span_of(first, self._prev)
        return alias

    def _parse_definition(self) -> Definition:
        first = self._curr
        name = self._parse_id_var(any_token=True)
        if name is None or not self._match(TokenType.ALIAS):
            raise self._error("DEFINE takes variables and conditions", "write DEFINE B AS B.x > A.x", first)
        condition = self._parse_disjunction()
        if condition is None:
            self._expect("a condition")
        node = Definition(this=condition, alias=name)
        node.meta[SPAN] = span_of(first, self._prev)
        return node

    def _parse_rows_per_match(self) -> None:
        first = self._curr
        if self._at_word("ALL"):
            raise self._error("Flink has no ALL ROWS PER MATCH", "write ONE ROW PER MATCH", first)
        if self._match_text_seq("ONE") and not self._match_text_seq("ROW", "PER", "MATCH"):
            self._expect("ROW PER MATCH")

    def _parse_skip(self) -> Skip:
        if not self._match_text_seq("AFTER"):
            return Skip()
        if not self._match_text_seq("MATCH", "SKIP"):
            self._expect("MATCH SKIP")
        if self._match_text_seq("PAST"):
            if not self._match_text_seq("LAST", "ROW"):
                self._expect("LAST ROW")
            return Skip(After.PAST_LAST_ROW)
        if not self._match_text_seq("TO"):
            self._expect("PAST LAST ROW, TO NEXT ROW, TO FIRST A or TO LAST A")
        if self._match_text_seq("NEXT", "ROW"):
            return Skip(After.TO_NEXT_ROW)
        after = After.TO_FIRST if self._match_text_seq("FIRST") else After.TO_LAST
        if after is After.TO_LAST:
            self._match_text_seq("LAST")
        token = self._curr
        name = self._parse_id_var(any_token=False)
        if name is None:
            raise self._error("a pattern variable is missing here", "write AFTER MATCH SKIP TO LAST A", token)
        return Skip(after, name.name)

    def _parse_within(self) -> Interval:
        first = self._index
        while self._index < self._tokens_size and not (
            self._at_word("DEFINE") or self._at_word("SUBSET") or self._curr.token_type == TokenType.R_PAREN
        ):
            self._advance()
        tokens = self._tokens[first : self._index]
        try:
            return read_interval(tokens, flink=True)
        except IntervalError as error:
            at = tokens or [self._prev]
            raise self._error(f"WITHIN: {error}", error.hint, at[0], at[-1]) from None

    # -- pattern -----------------------------------------------------------------------------------------
    def _parse_pattern(self) -> list[Element]:
        opening = self._curr
        if not self._match(TokenType.L_PAREN):
            self._expect("( behind PATTERN")
        elements: list[Element] = []
        while not self._match(TokenType.R_PAREN):
            first = self._curr
            name = self._parse_id_var(any_token=False)
            if name is None:
                raise self._error("a pattern is of variables, each with a quantifier", _PATTERN, first)
            quantified = self._curr
            if any(element.name == name.name for element in elements):
                raise self._error(f"{name.name} stands twice in the pattern", "give each place its own name", first)
            element = self._parse_quantifier(name.name)
            if (element.least, element.most, element.greedy) == (0, 1, False):
                raise self._error(
                    f"Flink has no {element}: one row or none, rather none",
                    f"write {name.name}?",
                    quantified,
                    self._prev,
                )
            if elements and elements[-1].is_greedy_loop and (element.least, element.most) in ((0, None), (0, 1)):
                raise self._error(
                    f"{name.name}, which may have no rows, can't follow a greedy one, as {elements[-1]} is",
                    f"write {elements[-1]}? {element}, or {elements[-1]} {name.name}+",
                    quantified,
                    self._prev,
                )
            elements.append(element)
        self._check_pattern(elements, opening)
        return elements

    def _check_pattern(self, elements: list[Element], opening: Token) -> None:
        if all(element.is_optional for element in elements):
            raise self._error(
                "a match of this pattern may have no rows",
                "let one variable take at least one row",
                opening,
                self._prev,
            )
        last = elements[-1]
        if last.is_greedy_loop:
            raise self._error(
                f"a pattern can't end in a greedy quantifier, as {last.name} has one",
                f"end it with a variable, or write the quantifier of {last.name} with a ? behind it",
                opening,
                self._prev,
            )

    def _parse_quantifier(self, name: str) -> Element:
        first = self._curr
        counts: tuple[int, int | None]
        if self._match(TokenType.STAR):
            counts = 0, None
        elif self._match(TokenType.PLUS):
            counts = 1, None
        elif self._match(TokenType.DQMARK):
            return Element(name, 0, 1, greedy=False)  # ?? is one token
        elif self._match(TokenType.PLACEHOLDER):
            counts = 0, 1
        elif self._curr.token_type == TokenType.L_BRACE and not (self._next and self._next.text == "-"):
            counts = self._parse_braces()
        else:
            return Element(name)
        least, most = counts
        if most is not None and (most < max(least, 1)):
            raise self._error("a quantifier counts up, and to 1 at least", "write {1,3}", first, self._prev)
        if max(least, most or 0) > _MOST:
            raise self._error(f"a quantifier counts to {_MOST:,} here", "write + and a condition", first, self._prev)
        return Element(name, least, most, greedy=not self._match(TokenType.PLACEHOLDER))

    def _parse_braces(self) -> tuple[int, int | None]:
        self._advance()
        least = self._count()
        if least is None:
            self._expect("a number")
        most = self._count() if self._match(TokenType.COMMA) else least
        if not self._match(TokenType.R_BRACE):
            self._expect("a comma, a number or }")
        return least, most

    def _count(self) -> int | None:
        if self._curr.token_type != TokenType.NUMBER or not self._curr.text.isdecimal():
            return None
        self._advance()
        return int(self._prev.text)

    # -- words -------------------------------------------------------------------------------------------
    def _csv(self, read: Callable[[], _T | None]) -> list[_T]:
        """Reads items between commas."""
        items = []
        while True:
            item = read()
            if item is None:
                self._expect("an expression")
            items.append(item)
            if not self._match(TokenType.COMMA):
                return items

    def _at_word(self, word: str) -> bool:
        return bool(self._curr) and self._curr.text.upper() == word and self._curr.token_type != TokenType.STRING

    def _expect(self, what: str) -> NoReturn:
        raise self._error(f"MATCH_RECOGNIZE expects {what} here", _USAGE, self._curr or self._prev)
