"""The grammar of OpenMLDB's and SQLstream's window specifications, and of LAST JOIN."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.source import INSIDE, LAST_BOUND, SPAN, error_at
from dbt.adapters.sparkstream.sql.grammar.frame_grammar import FrameGrammar
from dbt.adapters.sparkstream.sql.grammar.scan import FRAME_WORDS, MATCH_CONDITION, is_matched, is_ordered
from dbt.adapters.sparkstream.sql.grammar.spans import span_of
from dbt.adapters.sparkstream.sql.grammar.specs import AsOfJoin, FramedWindow, LastJoin, OrderKey, WindowSpec

_NO_WINDOW_NAMES = (
    *(TokenType.PARTITION_BY, TokenType.ORDER_BY, TokenType.ROWS, TokenType.RANGE, TokenType.UNION, TokenType.COMMA),
)


LAST_JOIN = "LAST JOIN"


class SpecGrammar(FrameGrammar):
    """Reads window specifications, their UNION, and LAST JOIN; mixed into the parser of every dialect."""

    frames: frozenset[int] = frozenset()
    """Places in the text of the `(` of each frame of ours, in dialect `spark` (see `scan`)."""
    _in_asof = False
    """True while the table behind ASOF JOIN is being read."""

    # -- LAST JOIN -----------------------------------------------------------------------------------
    def _at_word_before(self, word: str, following: TokenType) -> bool:
        """True if a word comes next, and no name in backticks, with a token of a kind behind it."""
        if not (self._curr and self._next) or self._curr.token_type == TokenType.IDENTIFIER:
            return False
        return self._curr.text.upper() == word and self._next.token_type == following

    def _at_last_join(self) -> bool:
        return self._at_word_before("LAST", TokenType.JOIN)

    def _parse_table_alias(self, alias_tokens: Any = None) -> exp.TableAlias | None:
        # To Spark, `FROM t last JOIN u ON ...` is a join of a table with the alias `last`.
        if self._at_last_join() and (self.FRAMED or is_ordered(self._brackets, self._index)):
            return None
        if (self._in_asof and self._at_match_condition()) or self._asof_place() == self._index:
            return None
        return super()._parse_table_alias(alias_tokens)

    def _at_match_condition(self) -> bool:
        """True if MATCH_CONDITION (...) follows, which looks like a name with columns: `t match_condition (a)`."""
        return self._at_word_before(MATCH_CONDITION, TokenType.L_PAREN)

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        asof = self._asof_place()
        if asof is not None:
            return self._parse_asof_join(asof)
        if not self._at_last_join():
            return self._read_join(*args, **kwargs)
        first = self._curr
        self._advance(2)
        start = self._curr
        table = self._parse_table()
        if table is None:
            self.raise_error("LAST JOIN needs a table here")
            return None
        table.meta[SPAN] = span_of(start, self._prev)
        order: OrderKey | None = None
        if self._match(TokenType.ORDER_BY):
            order = self._order_keys(LAST_JOIN)[0]
        if not self._match(TokenType.ON):
            raise self._error(
                "LAST JOIN needs ON and a condition", "write LAST JOIN t ORDER BY t.ts ON a.k = t.k", first, self._prev
            )
        join = LastJoin(this=table, on=self._parse_disjunction(), order=order)
        join.meta[SPAN] = span_of(first, self._prev)
        return join

    # -- ASOF JOIN -----------------------------------------------------------------------------------
    def _asof_place(self) -> int | None:
        """Place of ASOF, here or behind LEFT, OUTER or INNER; None where no ASOF JOIN of Spark's begins."""
        if self.FRAMED:
            return None
        words = [token.text.upper() for token in self._tokens[self._index : self._index + 4]]
        for before in ([], ["LEFT"], ["LEFT", "OUTER"], ["INNER"]):
            if words[: len(before) + 2] == [*before, "ASOF", "JOIN"]:
                place = self._index + len(before)
                return place if is_matched(self._brackets, place) else None
        return None

    def _parse_asof_join(self, asof: int) -> AsOfJoin:
        first = self._curr
        side = "LEFT" if first.text.upper() == "LEFT" else ""
        self._advance(asof + 2 - self._index)
        start = self._curr
        self._in_asof = True
        table = self._parse_table()
        self._in_asof = False
        if table is None or not self._at_match_condition():
            raise self._error(
                "ASOF JOIN needs a table and MATCH_CONDITION",
                "write ASOF JOIN r MATCH_CONDITION (l.ts >= r.ts) ON l.k = r.k",
                first,
                self._curr or self._prev,
            )
        table.meta[SPAN] = span_of(start, self._prev)
        self._advance()  # MATCH_CONDITION
        match = self._parse_wrapped(self._parse_disjunction)
        if self._match(TokenType.USING):
            raise self._error(
                "ASOF JOIN takes ON here, and no USING", "write ON l.k = r.k", self._prev, self._curr or self._prev
            )
        on = self._parse_disjunction() if self._match(TokenType.ON) else None
        join = AsOfJoin(this=table, on=on, match=match, side=side)
        join.meta[SPAN] = span_of(first, self._prev)
        return join

    # -- windows -------------------------------------------------------------------------------------
    def _parse_window(self, this: exp.Expr | None, alias: bool = False) -> exp.Expr | None:
        if not alias and self._curr and self._curr.token_type == TokenType.OVER:
            self._check_over()
        if not self._at_frame(alias):
            before = len(self._bounds)
            window = super()._parse_window(this, alias=alias)
            if isinstance(window, exp.Window) and self._prev.token_type is TokenType.R_PAREN:
                self._note_places(window, self._bounds[before:])
            return window
        if not alias:
            this = self._before_over(this)
        self._advance()  # AS or OVER
        spec, children = self._parse_window_specification()
        window = FramedWindow(
            this=this, over=None if alias else "OVER", spec_value=spec, union=children[0], keys=children[1]
        )
        window.meta[SPAN] = spec.span
        return window

    def _note_places(self, window: exp.Window, bounds: list[int]) -> None:
        """Records the places of the inside of a window that ends here, of its frame, and of the frame's last bound.

        Args:
            bounds: the tokens that the bounds of the frame begin with; between them those of windows within a bound.
        """
        tokens, closing = self._tokens, self._index - 1
        opening, frame = self._brackets.opening(closing), window.args.get("spec")
        if opening is None:
            return
        window.meta[INSIDE] = tokens[opening].end + 1, tokens[closing].start
        if frame is not None:
            first = bounds[0] - (2 if tokens[bounds[0] - 1].token_type is TokenType.BETWEEN else 1)
            frame.meta[SPAN] = tokens[first].start, tokens[closing - 1].end + 1
            frame.meta[LAST_BOUND] = tokens[bounds[-1]].start

    def _parse_window_spec(self) -> dict[str, str | exp.Expr | None]:
        self._bounds.append(self._index)
        return super()._parse_window_spec()

    def _parse_function_call(self, *args: Any, **kwargs: Any) -> exp.Expr | None:
        first = self._curr
        try:
            return super()._parse_function_call(*args, **kwargs)
        except IndexError:  # sqlglot takes the arguments of a function such as MAP by their places
            place = span_of(first, self._prev) if first else (0, 0)
            raise error_at(
                self.sql, place, "this function has too few arguments", "write all of its arguments"
            ) from None

    def _check_over(self) -> None:
        after = self._next
        no_names = (*_NO_WINDOW_NAMES, TokenType.ALIAS, TokenType.FROM) if self.FRAMED else _NO_WINDOW_NAMES
        if (after and after.token_type in no_names) or (
            self.FRAMED and (not after or after.text.upper() in FRAME_WORDS)
        ):
            raise self._error(
                "OVER takes a window's name, or a window in parentheses",
                "write OVER (PARTITION BY ... ORDER BY ... ROWS BETWEEN ...)",
                self._curr,
                after,
            )

    def _before_over(self, this: exp.Expr | None) -> exp.Expr | None:
        """Reads FILTER (...) and IGNORE NULLS, which may stand between a call and OVER."""
        if self._match_pair(TokenType.FILTER, TokenType.L_PAREN):
            this = self.expression(exp.Filter(this=this, expression=self._parse_where()))
            self._match_r_paren()
        return self._parse_respect_or_ignore_nulls(this)

    def _at_frame(self, alias: bool) -> bool:
        """True if `OVER (` or `AS (` and a window of ours come next."""
        if not self.FRAMED and not self.frames:
            return False
        tokens, at = self._tokens, self._index
        if not alias:
            if at + 1 < len(tokens) and tokens[at].token_type == TokenType.FILTER:
                at = self._brackets.behind(at + 1)
            if at + 1 < len(tokens) and tokens[at].text.upper() in ("IGNORE", "RESPECT"):
                at += 2
        if at + 1 >= len(tokens) or tokens[at + 1].token_type != TokenType.L_PAREN:
            return False
        if tokens[at].token_type != (TokenType.ALIAS if alias else TokenType.OVER):
            return False
        return self.FRAMED or tokens[at + 1].start in self.frames

    def _parse_window_specification(self) -> tuple[WindowSpec, tuple[list[exp.Expr], list[exp.Expr]]]:
        opening = self._curr
        self._advance()
        unions = self._parse_window_union()
        partition: list[OrderKey] = []
        order: list[OrderKey] = []
        if self._match(TokenType.PARTITION_BY):
            partition = self._key_items()
        if self._match(TokenType.ORDER_BY):
            order = self._order_keys("a window")
        frame = self._parse_frame(opening, bool(order))
        if not self._match(TokenType.R_PAREN):
            self._refuse_rest()
        span = span_of(opening, self._prev)
        children = unions, [key.expression for key in (*partition, *order)]
        return WindowSpec(span, frame, tuple(unions), tuple(partition), tuple(order)), children

    def _key_items(self, ordered: str = "") -> list[OrderKey]:
        """The items of PARTITION BY, or of the ORDER BY of what `ordered` names; a window's are ascending."""
        items: list[OrderKey] = []
        while True:
            first = self._curr
            expression = self._parse_disjunction()
            if expression is None or not first:
                self.raise_error("an expression is missing here")
                return items
            span = span_of(first, self._prev)
            descending = bool(ordered and self._match(TokenType.DESC))
            if descending and ordered != LAST_JOIN:
                raise self._error(f"{ordered} runs in ascending order only", "leave DESC out", first, self._prev)
            if ordered and not descending:
                self._match(TokenType.ASC)
            items.append(OrderKey(span, expression, descending))
            if not self._match(TokenType.COMMA):
                return items

    def _order_keys(self, owner: str) -> list[OrderKey]:
        """Reads ORDER BY: a key, and for a window the column of arrival."""
        items = self._key_items(owner)
        most = 1 if owner == LAST_JOIN else 2
        if len(items) > most:
            span = items[most].span
            raise error_at(
                self.sql,
                span,
                f"{owner} takes {'one key' if most == 1 else 'a key and the column of arrival'} in ORDER BY",
                "order by the key; rows with the same key go by their arrival (arrival='seq')"
                if most == 1
                else "write ORDER BY ts, seq",
            )
        return items

    def _parse_window_union(self) -> list[exp.Expr]:
        if not self._match(TokenType.UNION):
            return []
        if not self._at_union_list():
            return self._parse_union_sources()
        self._advance()  # UNION (t2, t3)
        sources = self._parse_union_sources()
        if not self._match(TokenType.R_PAREN):
            self.raise_error("the list of UNION tables isn't closed; expecting )")
        return sources

    def _at_union_list(self) -> bool:
        """True if the tables of UNION are in parentheses of their own, and not a subquery alone."""
        tokens, at = self._tokens, self._index
        if at + 1 >= len(tokens) or tokens[at].token_type != TokenType.L_PAREN:
            return False
        behind = self._brackets.behind(at + 1)
        if tokens[at + 1].token_type in (TokenType.SELECT, TokenType.WITH):
            return False
        listed = behind < len(tokens) and tokens[behind].token_type in (TokenType.COMMA, TokenType.R_PAREN)
        return tokens[at + 1].token_type != TokenType.L_PAREN or listed

    def _parse_union_sources(self) -> list[exp.Expr]:
        sources = []
        while True:
            first = self._curr
            if not first or first.token_type in (TokenType.PARTITION_BY, TokenType.ORDER_BY, TokenType.R_PAREN):
                raise self._error(
                    "UNION takes tables and subqueries",
                    "write UNION t2, (SELECT ... FROM t3) PARTITION BY ...",
                    first or self._prev,
                )
            source = (
                self._parse_select(table=True, nested=True)
                if first.token_type == TokenType.L_PAREN
                else self._parse_table_parts()
            )
            if source is None:
                self.raise_error("UNION takes a table or a subquery here")
            else:
                source.meta[SPAN] = span_of(first, self._prev)
                sources.append(source)
            if self._match(TokenType.ALIAS):  # UNION t2 AS u: columns go by the names of FROM
                self._parse_id_var()
            if not self._match(TokenType.COMMA):
                return sources
