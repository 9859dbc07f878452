"""MATCH_RECOGNIZE as a query of Spark SQL.

For `t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES A.p AS x, LAST(B.p) AS y AFTER MATCH SKIP PAST LAST ROW
PATTERN (A B+ C) DEFINE B AS B.p > A.p)` it is

    SELECT k, inline(transform(matches, m -> struct(get(events, m.A_last).p AS x, get(events, m.B_last).p AS y)))
    FROM (
      SELECT k, events, aggregate(<their numbers>, <nothing yet>, (a, i) -> <a after event i>, a -> a.found) AS matches
      FROM (
        SELECT k, array_sort(collect_list(struct(ts, p)), <ORDER BY>) AS events FROM t WHERE ts IS NOT NULL GROUP BY k
      )
    )

A match `m` has the numbers of the events that it is made of: `s` its first, `e` its last, and for each variable the
first and the last that it has taken; between these all are its own. The conditions of DEFINE read a match that has
taken the present event already, so DEFINE and MEASURES read events in the same way.

The state `a` of the aggregate is the state of Flink's NFA:
- `live`: the ways to read the rows so far, each a state `q` of the automaton and its unfinished match `m`. They are in
  order of their first event. Each event takes them on, or ends them, and begins a new one. Of ways that are the same
  from here on, in state, first event and all that conditions will read, the first stays: whatever ends the others ends
  it as well, and only the first match of a first event counts.
- `pending`: matches that wait for `live` ones which began earlier.
- `found`: matches that count. What began before `start`, where AFTER MATCH SKIP leads to, counts no longer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from dbt.adapters.sparkstream.sql.core.interval import Interval
from dbt.adapters.sparkstream.sql.core.literals import string_literal
from dbt.adapters.sparkstream.sql.core.matching import After, RowPattern
from dbt.adapters.sparkstream.sql.core.writing import commented, indented, listed
from dbt.adapters.sparkstream.sql.passes.match.automaton import Automaton, Edge, automaton
from dbt.adapters.sparkstream.sql.passes.match.names import WAYS_MATCH, MatchNames

Lines = list[str]


@dataclass(frozen=True)
class OrderItem:
    """A column of ORDER BY, as Spark SQL."""

    column: str
    descending: bool = False


@dataclass(frozen=True)
class MatchQuery:
    """Parts of a MATCH_RECOGNIZE, as Spark SQL.

    Attributes:
        relation: the relation before it, for FROM.
        keys: the columns of PARTITION BY.
        order: the items of ORDER BY; the first is the time.
        columns: the columns of an event that are read anywhere.
        measures: name -> expression of `m` and the events.
        conditions: variable -> condition on `m`.
        pattern: the pattern.
        names: the names of events and variables.
        depends_on: variable -> the numbers in the match of a way that its condition depends on.
        most: the most ways and waiting matches at once.
        comment: the pattern as it is written.
        until: where the rows are those of a stream up to now: a relation whose one row has the time `until_at` that
            each later row has reached; None where there are no later rows.
    """

    relation: str
    keys: Sequence[str]
    order: Sequence[OrderItem]
    columns: Sequence[str]
    measures: Mapping[str, str]
    conditions: Mapping[str, str]
    pattern: RowPattern
    names: MatchNames
    depends_on: Mapping[str, Collection[str]]
    most: int
    comment: str = ""
    until: str | None = None

    def lines(self) -> Lines:
        """The query in parentheses, line by line."""
        measures = [f"{sql} AS {name}" for name, sql in self.measures.items()]
        found = [
            f"inline(transform({'matches' if self.until is None else 'matches.found'}, m -> struct(",
            *indented(listed(measures)),
            ")))",
        ]
        items = indented([*(f"{key}," for key in self.keys), *found])
        query = [commented(self.comment), "SELECT", *items, *_from(self._searched())]
        return ["(", *indented(query), ")"]

    def kept(self) -> Lines:
        """Query for the rows that a match with later rows may contain, line by line; it needs `until`.

        From the first of these rows on, the search starts again, and comes to the same `live` and `pending` matches.
        What began earlier has been found, or never will be.
        """
        events = self.names.events
        rows = f"inline(slice({events}, matches.first + 1, size({events}) - matches.first))"
        return [f"SELECT {rows}", *_from(self._searched()), "WHERE matches.first IS NOT NULL"]

    def _searched(self) -> Lines:
        """The query for the events of each partition, and its matches."""
        events = self.names.events
        partition = [
            f"SELECT {', '.join([*self.keys, f'{self._events()} AS {events}'])}",
            f"FROM {self.relation}",
            f"WHERE {self.order[0].column} IS NOT NULL",
        ]
        if self.keys:
            partition.append(f"GROUP BY {', '.join(self.keys)}")
        return [
            f"SELECT {', '.join([*self.keys, events])},",
            *indented(_behind(_Search(self).lines(), " AS matches")),
            *_behind(_from(partition), "" if self.until is None else f" CROSS JOIN {self.until}"),
        ]

    def _events(self) -> str:
        listed = f"collect_list(struct({', '.join(self.columns)}))"
        return f"array_sort({listed}, (l, r) -> {self._compared()})"

    def _compared(self) -> str:
        """Order of events l and r: equal ones as they come, as in Flink, or by text with `until`; NULLs are least."""
        first, *more = self.order
        cases = [f"WHEN l.{first.column} < r.{first.column} THEN -1 WHEN l.{first.column} > r.{first.column} THEN 1"]
        for item in more:
            left, right = f"l.{item.column}", f"r.{item.column}"
            less, greater = (1, -1) if item.descending else (-1, 1)
            cases.append(
                f"WHEN {left} < {right} OR ({left} IS NULL AND {right} IS NOT NULL) THEN {less} "
                f"WHEN {left} > {right} OR ({left} IS NOT NULL AND {right} IS NULL) THEN {greater}"
            )
        if self.until is None:
            return f"CASE {' '.join(cases)} ELSE 0 END"
        # Rows that are kept come again, and have to come in the same order.
        texts = "WHEN to_json(l) < to_json(r) THEN -1 WHEN to_json(l) > to_json(r) THEN 1"
        return f"CASE {' '.join(cases)} {texts} ELSE 0 END"


class _Search:
    """The aggregate over the events of a partition that finds its matches."""

    def __init__(self, query: MatchQuery) -> None:
        self._query = query
        self._names = query.names
        self._pattern = query.pattern
        self._nfa: Automaton = automaton(query.pattern.elements)
        fields = [field for name in self._pattern.variables for field in self._names.fields(name)]
        self._match_type = f"STRUCT<{', '.join(f'{field}: INT' for field in ('s', 'e', *fields))}>"
        self._matches = f"CAST(array() AS ARRAY<{self._match_type}>)"
        self._threads = (
            f"CAST(array() AS ARRAY<STRUCT<q: INT, m: {self._match_type}> >)"  # sqlglot reads >>> as a shift
        )

    def lines(self) -> Lines:
        """The aggregate, line by line."""
        nothing = self._state(self._threads, self._matches, self._matches, "0")
        return [
            "aggregate(",
            *indented(
                [
                    f"transform({self._names.events}, (r, i) -> i),",
                    f"{nothing},",
                    "(a, i) -> aggregate(",
                    *indented(
                        [
                            *_around("array(", self._next(), "),"),
                            "a,",
                            f"(z, next) -> CASE WHEN size(next) + size(a.pending) > {self._query.most}",
                            f"THEN {self._too_many()}",
                            "ELSE aggregate(",
                            *indented(
                                self._settled(
                                    f"concat(a.pending, {self._over()})", f"filter(next, t -> t.q <> {self._nfa.final})"
                                )
                            ),
                            ") END",
                        ]
                    ),
                    "),",
                    *self._end(),
                ]
            ),
            ")",
        ]

    def _state(self, live: str, pending: str, found: str, start: str) -> str:
        return f"named_struct('live', {live}, 'pending', {pending}, 'found', {found}, 'start', {start})"

    # -- one event ---------------------------------------------------------------------------------------
    def _in_time(self) -> str:
        """The live ways that began less than WITHIN ago."""
        if self._pattern.within is None:
            return "a.live"
        return self._live(f"get({self._names.events}, i).{self._query.order[0].column} <", self._pattern.within)

    def _live(self, condition: str, within: Interval) -> str:
        """The live ways whose end of WITHIN is behind a condition, such as `until_at <=`."""
        began = f"get({self._names.events}, t.m.s).{self._query.order[0].column}"
        return f"filter(a.live, t -> {condition} {began} + {within.sql()})"

    def _begin(self) -> str:
        """A way that has taken no event."""
        nothing = ", ".join(["CAST(NULL AS INT)"] * (2 + 2 * len(self._pattern.variables)))
        return f"CAST(struct(0, struct({nothing})) AS STRUCT<q: INT, m: {self._match_type}>)"

    def _ways(self) -> Lines:
        """The ways that event `i` leaves."""
        before = f"concat({self._in_time()}, array({self._begin()})),"
        return _around("flatten(transform(", [before, *_around("t -> aggregate(", self._taken(), ")")], "))")

    def _next(self) -> Lines:
        """The ways that event `i` leaves; of ways that are the same from here on, the first."""
        ways = self._ways()
        if sum(element.least != element.most for element in self._pattern.elements) < 2:
            return ways  # the number of events taken determines how many each variable has
        same = ", ".join(["t.q", "t.m.s", *self._matters()])
        return [
            "aggregate(",
            *indented(
                [
                    "array(sort_array(transform(",
                    *indented([*_behind(ways, ","), f"(t, n) -> struct(struct({same}) AS same, n, t)"]),
                    "))),",
                    f"{self._threads},",
                    "(z, ways) -> transform(sort_array(transform(",
                    "  filter(ways, (x, n) -> NOT get(ways, n - 1).same <=> x.same),",
                    "  x -> struct(x.n, x.t)",
                    ")), x -> x.t)",
                ]
            ),
            ")",
        ]

    def _matters(self) -> list[str]:
        """Values of way `t` that conditions will read, except those that follow from its state and its first event."""
        states: dict[str, set[int]] = {}
        for state, variables in enumerate(self._nfa.ahead()):
            for name in (self._pattern.variables[place] for place in variables):
                # When a condition is checked, its variable has just taken the present event.
                given = {*self._names.ends("", WAYS_MATCH), self._names.ends(name, WAYS_MATCH)[1]}
                for number in set(self._query.depends_on.get(name, ())) - given:
                    states.setdefault(number, set()).add(state)
        return [
            f"CASE WHEN t.q IN ({', '.join(map(str, sorted(found)))}) THEN {number} END"
            for number, found in sorted(states.items())
        ]

    def _too_many(self) -> str:
        words = (
            f"MATCH_RECOGNIZE has more than {self._query.most:,} partial matches at once: {self._query.comment}\n"
            "  write WITHIN or narrower conditions, or set max_partial_matches in the model's config or the profile"
        )
        return f"raise_error({string_literal(words)})"

    def _taken(self) -> Lines:
        """Ways that `t` becomes with event `i`; `takes`: its match if a variable takes the event, `ok`: if it does."""
        takes = [self._take(name) for name in self._pattern.variables]
        return [
            "array(array(",
            *indented(listed(takes)),
            ")),",
            f"{self._threads},",
            "(z, takes) -> aggregate(",
            *indented(
                [
                    "array(transform(takes, (m, v) -> coalesce(CASE",
                    *indented(self._conditions()),
                    "END, FALSE))),",
                    "z,",
                    "(y, ok) -> transform(",
                    *indented(["filter(get(array(", *indented(self._edges()), f"), t.q), x -> {self._holds()}),"]),
                    *indented(["x -> struct(x.q AS q, takes[x.v] AS m)"]),
                    ")",
                ]
            ),
            ")",
        ]

    def _take(self, name: str) -> str:
        items = ["coalesce(t.m.s, i) AS s", "i AS e"]
        for other in self._pattern.variables:
            first, last = self._names.fields(other)
            if other == name:
                items += [f"coalesce(t.m.{first}, i) AS {first}", f"i AS {last}"]
            else:
                items += [f"t.m.{first}", f"t.m.{last}"]
        return f"struct({', '.join(items)})"

    def _conditions(self) -> Lines:
        lines = []
        for place, name in enumerate(self._pattern.variables):
            condition = self._query.conditions.get(name, "TRUE")
            reads = [any(place in (edge.variable, *edge.unless) for edge in edges) for edges in self._nfa.edges]
            states = [str(state) for state, is_read in enumerate(reads) if is_read]
            asked = "" if len(states) == len(self._nfa.edges) else f" AND t.q IN ({', '.join(states)})"
            lines.append(f"WHEN v = {place}{asked} THEN {condition}")
        return lines

    def _edges(self) -> Lines:
        """Edges of each state, as a constant: Spark finds those of one state among thousands at once."""
        return listed([f"array({', '.join(map(self._edge, edges))})" for edges in self._nfa.edges])

    def _edge(self, edge: Edge) -> str:
        unless = f", array({', '.join(map(str, sorted(edge.unless)))}) AS unless" if self._excludes() else ""
        return f"struct({edge.variable} AS v, {edge.target} AS q{unless})"

    def _holds(self) -> str:
        return "ok[x.v] AND NOT exists(x.unless, u -> ok[u])" if self._excludes() else "ok[x.v]"

    def _excludes(self) -> bool:
        return any(edge.unless for edges in self._nfa.edges for edge in edges)

    # -- matches -----------------------------------------------------------------------------------------
    def _over(self) -> str:
        return f"transform(filter(next, t -> t.q = {self._nfa.final}), t -> t.m)"

    def _settled(self, pending: str, live: str) -> Lines:
        """Finds matches in order of their first events, as long as no live way began earlier (NFA.isEarlier)."""
        counted = self._state("o.live", "o.pending", "concat(o.found, array(m))", self._skip())
        waiting = self._state("o.live", "concat(o.pending, array(m))", "o.found", "o.start")
        counts = "filter(o.live, t -> t.m.s >= o.start AND NOT exists(o.pending, p -> p.s = t.m.s))"
        earlier = "exists(o.live, t -> t.m.s >= o.start AND t.m.s < m.s)"
        return [
            f"array_sort({pending}, (l, r) -> l.s - r.s),",
            f"{self._state(live, self._matches, 'a.found', 'a.start')},",
            "(o, m) -> CASE",
            "  WHEN m.s < o.start THEN o",
            f"  WHEN size(o.pending) > 0 OR {earlier} THEN {waiting}",
            f"  ELSE {counted}",
            "END,",
            f"o -> {self._state(counts, 'o.pending', 'o.found', 'o.start')}",
        ]

    def _skip(self) -> str:
        """The number of the first event that a match may begin with after match `m`."""
        skip = self._pattern.skip
        if skip.after is After.PAST_LAST_ROW:
            return "m.e + 1"
        if skip.after is After.TO_NEXT_ROW:
            return "m.s + 1"
        first, last = self._names.fields(skip.variable)
        to = f"m.{first if skip.after is After.TO_FIRST else last}"
        return (
            f"CASE WHEN {to} IS NULL THEN raise_error('Could not skip to {skip.variable}: a match has no such row') "
            f"WHEN {to} = m.s THEN raise_error('Could not skip to first element of a match') ELSE {to} END"
        )

    def _end(self) -> Lines:
        """End of the aggregate: with WITHIN, live ways run out of time, and no match waits for them any longer.

        On a stream, only those run out that no later row can take on in time.
        """
        is_stream = self._query.until is not None
        result = _FOUND_AND_FIRST if is_stream else "{0}.found"
        within = self._pattern.within
        if within is None:
            return [f"a -> {result.format('a')}"]
        lines = self._settled("a.pending", self._live("until_at <=", within) if is_stream else self._threads)
        return ["a -> aggregate(", *indented([*lines[:-1], f"o -> {result.format('o')}"]), ")"]


_FOUND_AND_FIRST = (
    "struct({0}.found AS found, array_min(concat(transform(filter({0}.live, t -> t.m.s >= {0}.start), t -> t.m.s), "
    "transform({0}.pending, p -> p.s))) AS first)"
)
"""The matches that count, and the first event of matches that wait or aren't finished."""


def _from(query: Lines) -> Lines:
    return ["FROM (", *indented(query), ")"]


def _around(before: str, lines: Lines, after: str) -> Lines:
    return [before, *indented(lines), after]


def _behind(lines: Lines, text: str) -> Lines:
    return [*lines[:-1], lines[-1] + text]
