"""Refuses what Spark's SQL has and Flink's hasn't: else a query would run here that Flink refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.core.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import SPAN, Edit, Source
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter

_ORDERS = {"sort": "SORT BY", "cluster": "CLUSTER BY", "distribute": "DISTRIBUTE BY"}
_OPERATORS: dict[type[exp.Expr], tuple[str, str]] = {
    exp.RegexpLike: ("RLIKE", "write REGEXP(text, pattern)"),
    exp.ILike: ("ILIKE", "write UPPER(text) LIKE 'A%'"),
    exp.IntDiv: ("DIV", "write a / b, which is a whole number for whole numbers"),
    exp.BitwiseAnd: ("&", "calculate it outside the Flink SQL"),
    exp.BitwiseOr: ("|", "calculate it outside the Flink SQL"),
    exp.BitwiseXor: ("^", "calculate it outside the Flink SQL"),
    exp.BitwiseNot: ("~", "calculate it outside the Flink SQL"),
    exp.BitwiseLeftShift: ("<<", "calculate it outside the Flink SQL"),
    exp.BitwiseRightShift: (">>", "calculate it outside the Flink SQL"),
    exp.Lambda: ("->", "write UNNEST(array), and work on its rows"),
    exp.JSONBContainsTopKey: ("?", "write the value, or a Jinja variable"),
}


class ForeignSyntax(Rewriter):
    """Refuses clauses and operators that Flink's parser doesn't know."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        super().__init__(source, resolver)
        self.handlers: dict[type[exp.Expr], Callable[[exp.Expr], Iterable[Edit]]] = {
            exp.Select: self._select,
            exp.Join: self._join,
            exp.Star: self._star,
            exp.Pivot: self._pivot,
            exp.Limit: self._limit,
            exp.Fetch: self._fetch,
            exp.Offset: self._offset,
            exp.EQ: self._equal,
            exp.NullSafeEQ: self._null_safe,
            exp.TryCast: self._cast,
            exp.Cast: self._cast,
            exp.In: self._in,
            exp.TableSample: self._sample,
            exp.WindowSpec: self._frame,
            **dict.fromkeys((exp.CurrentUser, exp.SessionUser), self._user),
            **dict.fromkeys((exp.Placeholder, exp.Parameter, exp.SessionParameter), self._parameter),
            **dict.fromkeys(_OPERATORS, self._operator),
            **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), self._set_operation),
        }

    def _select(self, node: exp.Expr) -> Iterable[Edit]:
        for clause, words in _ORDERS.items():
            if node.args.get(clause):
                self.refuse(node.args[clause], f"Flink has no {words}", "write ORDER BY")
        source = node.args["from_"].this if node.args.get("from_") else None
        if isinstance(source, exp.Values) and source.alias and "start" not in source.args["alias"].this.meta:
            return ()  # sqlglot has made it of VALUES
        span = self.source.span(node)
        if not node.expressions:
            self.refuse(span, "SELECT names no columns", "write SELECT a, or SELECT *")
        if node.args.get("where") and not node.args.get("from_"):
            self.refuse(node.args["where"], "WHERE needs a FROM", "write FROM (VALUES (1)) AS v(a) before it")
        tokens = self.source.tokens
        if tokens[tokens.at(span[0])].token_type == TokenType.FROM:
            self.refuse(span, "SELECT stands before FROM", "write SELECT ... FROM ...")
        behind = tokens.at(self.source.span(node.expressions[-1])[1] - 1) + 1
        kinds = [token.token_type for token in tokens[behind : behind + 2]]
        if kinds == [TokenType.COMMA, TokenType.FROM]:
            self.refuse((tokens[behind].start, tokens[behind].end + 1), "a column is missing behind this comma")
        if node.args.get("into"):
            self.refuse(node.args["into"], "Flink's SELECT has no INTO", "write the query alone")
        group = node.args.get("group")
        if group is not None and group.args.get("all") and not group.expressions:
            self.refuse(node, "Flink's GROUP BY names its keys", "write GROUP BY a, b in the place of GROUP BY ALL")
        for kind in ("rollup", "cube"):
            if group is not None and any(not each.expressions for each in group.args.get(kind) or []):
                self.refuse(group, f"Flink has no WITH {kind.upper()}", f"write GROUP BY {kind.upper()}(a, b)")
        distinct = node.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            self.refuse(distinct, "Flink has no DISTINCT ON", "write ROW_NUMBER() OVER (...) AS n, and WHERE n = 1")
        return ()

    def _join(self, node: exp.Expr) -> Iterable[Edit]:
        assert isinstance(node, exp.Join)
        if node.kind in ("SEMI", "ANTI") and not isinstance(node.this, exp.Unnest):
            word = "EXISTS" if node.kind == "SEMI" else "NOT EXISTS"
            self.refuse(node.this, f"Flink has no {node.kind} JOIN", f"write WHERE {word} (SELECT ...)")
        condition = node.args.get("on")
        made_up = isinstance(condition, exp.Boolean) and not condition.meta  # by sqlglot, which wants a condition
        given = [*([condition] if condition is not None and not made_up else []), *(node.args.get("using") or [])]
        if given and "NATURAL" in (node.method, node.kind):
            self.refuse(given[0], "a NATURAL JOIN takes neither ON nor USING", "write JOIN ... ON ...")
        if given and node.kind == "CROSS":
            self.refuse(given[0], "a CROSS JOIN takes neither ON nor USING", "write JOIN ... ON ...")
        if made_up and not isinstance(node.this, exp.Unnest):
            self.refuse(node.this, "this join has no condition", "write ON ..., or CROSS JOIN")
        return ()

    def _star(self, node: exp.Expr) -> Iterable[Edit]:
        for word in ("except_", "except", "replace", "rename"):
            named = node.args.get(word)
            # What a stream does with closed rows takes the adapter's own columns away: SELECT * EXCEPT (__is_new).
            if named and not all(column.name.startswith("__") for column in named):
                around = node.parent if isinstance(node.parent, exp.Column) else node
                self.refuse(around, "Flink's * takes no columns away and changes none", "write out the columns")
        if isinstance(node.parent, exp.Distinct):
            self.refuse(node.parent, "COUNT(DISTINCT *) counts no column", "write COUNT(DISTINCT a)")
        return ()

    def _pivot(self, node: exp.Expr) -> Iterable[Edit]:
        word = "UNPIVOT" if node.args.get("unpivot") else "PIVOT"
        self.refuse(node.parent or node, f"Flink has no {word}", "write SUM(x) FILTER (WHERE k = 'a') for each column")

    def _fetch(self, node: exp.Expr) -> Iterable[Edit]:
        if node.args.get("count") is None:
            self.refuse(node, "Flink's FETCH takes a number of rows", "write FETCH FIRST 1 ROWS ONLY")
        return ()

    def _limit(self, node: exp.Expr) -> Iterable[Edit]:
        number = node.args.get("expression")
        offset = node.parent.args.get("offset") if node.parent else None
        if isinstance(offset, exp.Offset) and SPAN not in offset.meta:  # sqlglot has made it of LIMIT 1, 2
            self.refuse(node, "Flink has no LIMIT with two numbers", "write LIMIT 2 OFFSET 1")
        whole = isinstance(number, exp.Literal) and number.name.isdecimal()
        if isinstance(number, exp.Expr) and not whole and number.name.upper() != "ALL":
            self.refuse(number, "LIMIT takes a whole number", "write such as LIMIT 10")
        return ()

    def _offset(self, node: exp.Expr) -> Iterable[Edit]:
        number = node.expression
        if not (isinstance(number, exp.Literal) and number.name.isdecimal()):
            self.refuse(node, "OFFSET takes a whole number", "write such as OFFSET 10 ROWS")
        return ()

    def _operator_text(self, node: exp.Expr) -> str:
        """What stands between the two operands."""
        return self.source.text[self.source.span(node.this)[1] : self.source.span(node.expression)[0]]

    def _equal(self, node: exp.Expr) -> Iterable[Edit]:
        if "==" in self._operator_text(node):
            self.refuse(node, "Flink has no ==", "write =")
        return ()

    def _null_safe(self, node: exp.Expr) -> Iterable[Edit]:
        if "<=>" in self._operator_text(node):
            self.refuse(node, "Flink has no <=>", "write IS NOT DISTINCT FROM")
        return ()

    def _operator(self, node: exp.Expr) -> Iterable[Edit]:
        word, hint = _OPERATORS[type(node)]
        self.refuse(node, f"Flink has no operator {word}", hint)

    def _user(self, node: exp.Expr) -> Iterable[Edit]:
        self.refuse(node, "Flink knows no user", "write the name, or a Jinja variable")

    def _parameter(self, node: exp.Expr) -> Iterable[Edit]:
        if str(node.name).casefold() == "rowtime":
            what, how = "$rowtime is Confluent's name for the event time", "write the column that has the watermark"
            self.refuse(node, what, how)
        self.refuse(node.parent or node, "Flink SQL has no parameters", "write the value, or a Jinja variable")

    def _cast(self, node: exp.Expr) -> Iterable[Edit]:
        assert isinstance(node, (exp.Cast, exp.TryCast))
        span = self.source.span(node)
        if "::" in self.source.text[self.source.span(node.this)[1] : span[1]]:
            self.refuse(span, "Flink has no ::", "write CAST(x AS INT)")
        if self.source.tokens_in(span)[-2].text.upper() == "REAL":
            self.refuse(span, "Flink has no type REAL", "write FLOAT")
        if node.args.get("format"):
            self.refuse(span, "Flink's CAST takes no FORMAT", "write DATE_FORMAT or TO_TIMESTAMP")
        return ()

    def _in(self, node: exp.Expr) -> Iterable[Edit]:
        if not (node.expressions or node.args.get("query") or node.args.get("unnest") or node.args.get("field")):
            self.refuse(node, "IN takes at least one value", "write x IN (1, 2)")
        return ()

    def _sample(self, node: exp.Expr) -> Iterable[Edit]:
        if node.args.get("size") is None or not node.args.get("method"):
            self.refuse(node.parent or node, "Flink samples by chance alone", "write TABLESAMPLE BERNOULLI (10)")
        if str(node.args["method"]).upper() != "BERNOULLI":
            self.refuse(node.parent or node, "Flink samples single rows alone", "write TABLESAMPLE BERNOULLI (10)")
        return ()

    def _frame(self, node: exp.Expr) -> Iterable[Edit]:
        kind = str(node.args.get("kind") or "").upper()
        for side in ("start", "end"):
            offset = node.args.get(side)
            if isinstance(offset, exp.Neg):
                self.refuse(offset, "an offset is not negative", "write PRECEDING or FOLLOWING")
            if isinstance(offset, exp.Column) or (kind == "ROWS" and isinstance(offset, exp.Interval)):
                takes = "a number of rows" if kind == "ROWS" else "a constant"
                self.refuse(
                    offset, f"an offset of {kind} is {takes}", f"write {kind} BETWEEN 5 PRECEDING AND CURRENT ROW"
                )
        if kind not in ("ROWS", "RANGE", ""):
            self.refuse(node.parent or node, f"Flink has no frames of {kind}", "write ROWS or RANGE")
        if node.args.get("exclude"):
            self.refuse(node.parent or node, "Flink's frames take no EXCLUDE", "leave the row out in a subquery")
        return ()

    def _set_operation(self, node: exp.Expr) -> Iterable[Edit]:
        if node.args.get("by_name"):
            self.refuse(node, "Flink has no BY NAME", "select the columns in the same order on both sides")
        if isinstance(node, exp.Except) and self._operator_text(node).lstrip(" )\n\t").upper().startswith("MINUS"):
            self.refuse(node, "Flink has no MINUS", "write EXCEPT")
        return ()
