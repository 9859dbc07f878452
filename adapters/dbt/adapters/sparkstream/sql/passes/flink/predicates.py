"""Comparisons, IN, BETWEEN, IS, OVERLAPS and CASE of Flink SQL."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core import types
from dbt.adapters.sparkstream.sql.core.nodes import Unknown, WhenValues, compared, results, row_pairs
from dbt.adapters.sparkstream.sql.core.source import Edit
from dbt.adapters.sparkstream.sql.passes.conditions import loose_operands
from dbt.adapters.sparkstream.sql.passes.flink import clocks
from dbt.adapters.sparkstream.sql.passes.flink.casts import text_of
from dbt.adapters.sparkstream.sql.passes.flink.json import has_json_kind
from dbt.adapters.sparkstream.sql.passes.flink.relations import QUANTIFIERS, Subqueries
from dbt.adapters.sparkstream.sql.passes.flink.rewriter import Rewriter, cast, handles, text_constant
from dbt.adapters.sparkstream.sql.passes.flink.typenames import family


class Predicates(Rewriter):
    """Edits conditions that Spark reads otherwise, and the results of CASE."""

    # -- comparisons -----------------------------------------------------------------------------------
    @handles(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
    def _compare(self, node: exp.Binary) -> Iterator[Edit]:
        left, right = node.left, node.right
        called = right.name.upper() if isinstance(right, exp.Anonymous) else ""
        if not isinstance(right, (exp.All, exp.Any)) and called not in QUANTIFIERS:  # whose values are compared singly
            pairs = row_pairs(left, right)
            if pairs and isinstance(node, exp.EQ):
                yield self.edit(node, lambda: self._rows(pairs))
            elif not pairs:
                yield from self._unlike(node)
        for one, other in ((left, right), (right, left)):
            yield from self._as_times([one], self.type(other))
        if isinstance(node, (exp.EQ, exp.NEQ)):
            yield from self.as_floats(left, [right])
        else:
            yield from self._by_clock(left, [right])
        yield from self._operands(node)

    def _by_clock(self, value: exp.Expr, bounds: list[exp.Expr]) -> Iterator[Edit]:
        """A TIMESTAMP_LTZ before or behind a TIMESTAMP, as what its clock shows. A literal is an instant to Flink."""
        computed = [b for b in bounds if not (isinstance(b, exp.Cast) and b.this.is_string)]
        if self.type(value) == "timestamp" and any(self.type(b) == "timestamp_ntz" for b in computed):
            yield self.edit(value, lambda: cast(self.text(value), "timestamp_ntz"), level=2)

    @handles(exp.NullSafeEQ, exp.NullSafeNEQ)
    def _operands(self, node: exp.Expr) -> Iterator[Edit]:
        """Puts conditions that are operands into parentheses."""
        for operand in loose_operands(node):
            yield self.edit(operand, lambda operand=operand: f"({self.text(operand)})", level=3)  # type: ignore[misc]

    def _rows(self, pairs: list[tuple[exp.Expr, exp.Expr]]) -> str:
        """`(a, b) = (c, d)` field by field: NULL for a NULL field unless another differs, where Spark gives FALSE."""
        operand = self.source.operand
        return f"({' AND '.join(f'{operand(left)} = {operand(right)}' for left, right in pairs)})"

    def _unlike(self, node: exp.Binary) -> Iterator[Edit]:
        """Comparisons that Spark lacks: a string with a BOOLEAN, and two maps."""
        kinds = {family(self.type(node.left)), family(self.type(node.right))}
        equal = isinstance(node, (exp.EQ, exp.NEQ))
        if kinds == {"text", "boolean"} and equal:
            # Flink compares what they are written as, which is never the same.
            known = lambda: " AND ".join(f"{self.text(side)} IS NOT NULL" for side in (node.left, node.right))  # noqa: E731
            answer = "FALSE" if isinstance(node, exp.EQ) else "TRUE"
            yield self.edit(node, lambda: f"CASE WHEN {known()} THEN {answer} END")
        elif kinds == {"map"} and equal:
            sign = "=" if isinstance(node, exp.EQ) else "<>"
            entries = lambda side: f"ARRAY_SORT(MAP_ENTRIES({self.text(side)}))"  # noqa: E731
            yield self.edit(node, lambda: f"{entries(node.left)} {sign} {entries(node.right)}")

    def _as_times(self, values: Iterable[exp.Expr], type_: str | None) -> Iterator[Edit]:
        """A string compared with a TIME(p) is parsed with p digits (`'10:00:00.129'` and TIME(2): `10:00:00.12`)."""
        for value in values if types.is_clock(type_) else ():
            if family(self.type(value)) == "text":
                read = lambda v=value: clocks.read(self.text(v), text_constant(v))  # noqa: E731
                yield self.edit(value, lambda read=read: cast(read(), type_ or ""), level=2)  # type: ignore[misc]

    # -- IN ----------------------------------------------------------------------------------------------
    @handles(exp.In)
    def _in(self, node: exp.In) -> Iterator[Edit]:
        wide = isinstance(node.this, exp.Tuple) and bool(node.this.expressions)
        if wide or not (yield from self._converted(node)):
            rows = [row_pairs(node.this, value) for value in node.expressions]
            if rows and all(rows):
                negated = "NOT " if self.source.is_negated(node) else ""
                yield self.edit(node, lambda: f"{negated}({' OR '.join(self._rows(pairs) for pairs in rows if pairs)})")
        yield from self._as_times(node.expressions, self.type(node.this))
        yield from self.as_floats(node.this, node.expressions)
        selected = node.args["query"].this if node.args.get("query") else None
        if isinstance(selected, exp.Select) and not isinstance(node.parent, exp.Not):  # NOT IN compares DOUBLEs there
            yield from self.as_floats(node.this, [column.unalias() for column in selected.expressions])
        kinds = {self.type(value) for value in node.expressions}
        if len(kinds) == 1:
            yield from self._as_times([node.this], kinds.pop())
        yield from Subqueries(self.source, self.resolver).of_in(node)

    def _converted(self, node: exp.In) -> Generator[Edit, None, bool]:
        """`n IN ('1', '2')` reads its texts as numbers, `s IN (1, 2)` writes its numbers as texts; so with BOOLEANs."""
        wanted = self.type(node.this)
        if wanted == "float":  # `f IN (0.1)` finds the FLOAT that is written 0.1, which f = 0.1 doesn't
            for value in node.expressions:
                if types.is_decimal(self.type(value)):
                    yield self.edit(value, lambda v=value: f"CAST({self.text(v)} AS FLOAT)")  # type: ignore[misc]
        known = {value: kind for value in node.expressions if (kind := family(self.type(value)))}
        kinds = set(known.values())
        if len(kinds) > 1 or {family(wanted), *kinds} not in ({"number", "text"}, {"boolean", "text"}):
            return False
        for value in known:
            yield self.edit(value, lambda v=value: self._in_type(v, str(wanted).upper()), level=2)  # type: ignore[misc]
        return True

    def _in_type(self, value: exp.Expr, type_: str) -> str:
        """A value in the list of IN, converted to the type of the left operand."""
        text, own = self.text(value), self.type(value)
        return text_of(text, own) if own == "boolean" else f"CAST({text} AS {type_})"

    # -- BETWEEN, OVERLAPS ---------------------------------------------------------------------------------
    @handles(exp.Between)
    def _between(self, node: exp.Between) -> Iterator[Edit]:
        this, low, high = node.this, node.args["low"], node.args["high"]
        yield from self._as_times([low, high], self.type(this))
        yield from self._by_clock(this, [low, high])
        symmetric = node.args.get("symmetric")
        if symmetric is None:
            return
        negated = "NOT " if self.source.is_negated(node) else ""

        def text() -> str:
            value, one, other = self.text(this), self.text(low), self.text(high)
            if not symmetric:  # ASYMMETRIC is what BETWEEN is anyway
                return f"{value} {negated}BETWEEN {one} AND {other}"
            both = f"({value} BETWEEN {one} AND {other} OR {value} BETWEEN {other} AND {one})"
            return f"({negated}{both})" if negated else both

        yield self.edit(node, text)

    @handles(exp.Overlaps)
    def _overlaps(self, node: exp.Overlaps) -> Iterator[Edit]:
        """Two periods share a moment, or one ends when the other begins; a period's ends may be in any order."""
        sides = [side.expressions for side in (node.left, node.right) if isinstance(side, exp.Tuple)]
        if [len(side) for side in sides] != [2, 2]:
            self.refuse(node, "OVERLAPS takes two periods", "write (start1, end1) OVERLAPS (start2, INTERVAL '1' HOUR)")

        def text() -> str:
            (first, first_end), (second, second_end) = (self._period(*side) for side in sides)
            return f"({first_end} >= {second} AND {second_end} >= {first})"

        yield self.edit(node, text)

    def _period(self, one: exp.Expr, other: exp.Expr) -> tuple[str, str]:
        """Start and end of a period, whose second part may be its length."""
        a, b = self.text(one), self.text(other)
        if (self.type(other) or "").startswith("interval"):
            type_ = self.type(one)
            if types.is_clock(type_):  # its end may be before its start
                b = clocks.moved(a, "+", b, type_ or "")
            else:
                b = f"{a} + {b}"
                if isinstance(other, exp.Interval) and not other.this.name.strip().startswith("-"):
                    return a, b
        return f"CASE WHEN {a} <= {b} THEN {a} ELSE {b} END", f"CASE WHEN {a} <= {b} THEN {b} ELSE {a} END"

    # -- IS, UNKNOWN, NULL -----------------------------------------------------------------------------------
    @handles(exp.Is)
    def _is(self, node: exp.Is) -> Iterator[Edit]:
        """`a IS NULL IS TRUE` and `x IS JSON OBJECT`."""
        json = node.expression
        yield from self._operands(node)
        if isinstance(json, exp.JSON):
            outer = node.parent if isinstance(node.parent, exp.Not) else node
            behind = self.source.tokens_in((self.source.span(node.this)[1], self.source.span(outer)[1]))
            kind, negated = str(json.this or "VALUE"), outer is not node and behind[1].text.upper() == "NOT"
            text = lambda: has_json_kind(self.text(node.this), kind, negated=negated)  # noqa: E731
            yield self.edit(outer if negated else node, text, level=1)

    @handles(Unknown)
    def _unknown(self, node: exp.Expr) -> Iterator[Edit]:
        yield self.edit(node, lambda: "CAST(NULL AS BOOLEAN)")

    @handles(exp.Where)
    def _where(self, node: exp.Where) -> Iterator[Edit]:
        """`WHERE NULL` keeps no row; Spark's NULL is no condition."""
        if isinstance(node.this, exp.Null):
            yield from self._unknown(node.this)

    # -- CASE, IF --------------------------------------------------------------------------------------------
    @handles(exp.Case)
    def _case(self, node: exp.Case) -> Iterator[Edit]:
        for condition in compared(node) if node.this is None else ():
            if isinstance(condition, exp.Null):
                yield from self._unknown(condition)
        yield from self.alike(results(node))
        if node.this is not None:
            yield from self._as_times(compared(node), self.type(node.this))
            yield from self.as_floats(node.this, compared(node))
        for branch in node.args.get("ifs") or []:
            yield from self._several(node, branch)

    @handles(exp.If)
    def _if(self, node: exp.If) -> Iterator[Edit]:
        if not isinstance(node.parent, exp.Case):
            yield from self.alike(results(node))

    def _several(self, node: exp.Case, branch: exp.Expr) -> Iterator[Edit]:
        """`WHEN 1, 2 THEN y` is `WHEN 1 THEN y WHEN 2 THEN y`."""
        values, result = branch.this, branch.args["true"]
        if not isinstance(values, WhenValues):
            return
        if node.this is None:
            self.refuse(values.expressions[1], "WHEN has one condition", "write OR in place of the comma")
        span = self.source.span(values.expressions[0])[0], self.source.span(result)[1]
        yield Edit(span, lambda: " WHEN ".join(f"{self.text(v)} THEN {self.text(result)}" for v in values.expressions))
