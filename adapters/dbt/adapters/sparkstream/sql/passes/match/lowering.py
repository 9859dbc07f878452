"""MATCH_RECOGNIZE in FROM: checked, and written as a subquery."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.limits import most_partial_matches
from dbt.adapters.sparkstream.sql.core.literals import quoted
from dbt.adapters.sparkstream.sql.core.matching import MatchRecognize
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Edit, Source
from dbt.adapters.sparkstream.sql.core.tokens import Span
from dbt.adapters.sparkstream.sql.core.tree import find
from dbt.adapters.sparkstream.sql.core.writing import placed
from dbt.adapters.sparkstream.sql.passes.match.checks import Checks
from dbt.adapters.sparkstream.sql.passes.match.names import MatchNames
from dbt.adapters.sparkstream.sql.passes.match.query import MatchQuery, OrderItem
from dbt.adapters.sparkstream.sql.passes.match.values import Values, is_column


class Matches:
    """Edits each MATCH_RECOGNIZE of a statement."""

    def __init__(self, source: Source, resolver: Resolver) -> None:
        self._source = source
        self._resolver = resolver

    def edits(self, tree: exp.Expr, streamed: MatchRecognize | None = None) -> Iterator[Edit]:
        """A subquery in the place of every MATCH_RECOGNIZE and of the relation before it.

        Args:
            tree: the statement.
            streamed: the MATCH_RECOGNIZE that stays in its place, with edited expressions: `over` writes it.
        """
        for match in find(tree, MatchRecognize):
            Checks(self._source, self._resolver, match).check()
            names = _names(match)
            for part in (*match.measures, *match.definitions):
                yield from Values(self._source, self._resolver, match, names).edits(part.this)
            if match is not streamed:
                span = self._source.span(match)
                yield Edit(span, lambda match=match, span=span: self._written(match, span))  # type: ignore[misc]

    def _written(self, match: MatchRecognize, span: Span) -> str:
        query = self.over(match, self._source.rendered(match.this), self._columns(match))
        return placed(query.lines(), self._source.indent(span[0]))

    def over(
        self, match: MatchRecognize, relation: str, columns: Sequence[str], until: str | None = None
    ) -> MatchQuery:
        """A MATCH_RECOGNIZE over a relation, where its expressions are edited.

        Args:
            match: the MATCH_RECOGNIZE.
            relation: what it reads, for FROM.
            columns: the columns of an event, as Spark SQL.
            until: as `MatchQuery` has it.
        """
        rendered, names = self._source.rendered, _names(match)
        values = Values(self._source, self._resolver, match, names)
        return MatchQuery(
            relation=relation,
            keys=[rendered(key.this) for key in match.keys],
            order=[OrderItem(rendered(item.this.this), bool(item.args.get("desc"))) for item in match.order],
            columns=columns,
            measures={quoted(measure.alias): rendered(measure.this) for measure in match.measures},
            conditions={definition.alias: rendered(definition.this) for definition in match.definitions},
            pattern=match.pattern,
            names=names,
            told_by={definition.alias: values.told_by(definition.this) for definition in match.definitions},
            most=most_partial_matches(),
            comment=self._comment(match),
            until=until,
        )

    def _columns(self, match: MatchRecognize) -> list[str]:
        """The columns of an event that are read, each once."""
        read = [*(item.this for item in match.order), *(column for column in match.named() if is_column(column))]
        found: dict[str, str] = {}
        for column in read:
            if isinstance(column.this, exp.Identifier) and not column.is_star:
                found.setdefault(column.name.casefold(), self._source.written(column.this))
        return list(found.values())

    def _comment(self, match: MatchRecognize) -> str:
        elements = " ".join(str(element) for element in match.pattern.elements)
        skip = match.pattern.skip
        after = f"{skip.after.value} {skip.variable}".strip()
        within = match.pattern.within
        return f"PATTERN ({elements}), AFTER MATCH SKIP {after}" + (f", WITHIN {within.words()}" if within else "")


def _names(match: MatchRecognize) -> MatchNames:
    return MatchNames.of(match.pattern.variables, [key.name for key in match.keys])
