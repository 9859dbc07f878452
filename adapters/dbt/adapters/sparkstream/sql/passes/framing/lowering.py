"""The calls of a SELECT, written for Spark where they stand."""

from __future__ import annotations

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.tree import own
from dbt.adapters.sparkstream.sql.passes.framing.additions import Additions
from dbt.adapters.sparkstream.sql.passes.framing.arrays import over_array
from dbt.adapters.sparkstream.sql.passes.framing.calls import Call
from dbt.adapters.sparkstream.sql.passes.framing.evaluation import Evaluation
from dbt.adapters.sparkstream.sql.passes.framing.functions import call_sql
from dbt.adapters.sparkstream.sql.passes.framing.plan import Plan
from dbt.adapters.sparkstream.sql.passes.framing.select import FramedSelect


class Lowering:
    """Writes the calls of a SELECT.

    Attributes:
        additions: what the calls need beside them.
    """

    def __init__(self, select: FramedSelect, plan: Plan) -> None:
        self._select = select
        self._plan = plan
        self.additions = Additions(inline_unnamed=not plan.inner and not plan.ordered)

    def call(self, call: Call) -> str:
        """What stands in the place of an outermost call."""
        if not call.is_aggregate:  # OVER belongs to the aggregates within
            return self._select.block.text(call.call, [(c.span, self._placed(c)) for c in call.inner])
        return self._placed(call)

    def _placed(self, call: Call) -> str:
        """An aggregate where the SELECT has it: itself, or the column that it has become."""
        if call.inner:
            return self._nested(call)
        text = call_sql(self._evaluation(call))
        return self.additions.column(text, call) if self._plan.inner else text

    def _evaluation(self, call: Call) -> Evaluation:
        return Evaluation(self._select, self._plan.stream_of(call), self.additions, call)

    def _nested(self, call: Call) -> str:
        """An aggregate of an expression with aggregates, such as `sum(x - min(x))`: min(x) is one value for a frame."""
        select = self._select
        inner = [(c.span, self._placed(c)) for c in call.inner]
        fields: dict[str, str] = {}
        arguments: list[str] = []
        for argument in call.arguments:
            replaced = list(inner)
            for column in own(argument, exp.Column):
                place = select.source.span(column)
                if any(s[0] <= place[0] and place[1] <= s[1] for s, _ in inner):
                    continue
                text = select.render(place)
                fields.setdefault(text, f"c{len(fields)}")
                replaced.append((place, f"r.{fields[text]}"))
            arguments.append(select.block.text(select.source.span(argument), replaced))
        fields = fields or {"1": "c0"}
        evaluation = self._evaluation(call)
        rows = self.additions.column(evaluation.rows({name: text for text, name in fields.items()}))
        values = ", ".join(f"'a{i}', {a}" for i, a in enumerate(arguments))
        return over_array(evaluation, f"transform({rows}, r -> named_struct({values}))")
