"""The automaton of a row pattern: the same states and edges as Flink's (NFACompiler of flink-cep).

Flink's automaton isn't the one of SQL:2016. It keeps every way to read the rows at once, and a match is over as soon
as one of them reaches the final state. A greedy quantifier doesn't prefer one way to another: behind `A*` the next
variable takes only rows that A doesn't take. So `A* B` with no condition on A matches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dbt.adapters.sparkstream.sql.core.matching import Element


@dataclass(frozen=True)
class Edge:
    """Edge between two states, on which a variable takes a row.

    Attributes:
        variable: the place of the variable in the pattern that takes the row.
        target: the state behind it.
        unless: places of variables. The edge holds only for a row that none of these variables could take.
    """

    variable: int
    target: int
    unless: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Automaton:
    """Automaton of a row pattern; its states are numbers, and a match begins in state 0.

    Attributes:
        final: the state in which a match is over.
        edges: the edges of each state but the final one, in Flink's order.
    """

    final: int
    edges: tuple[tuple[Edge, ...], ...]

    def ahead(self) -> tuple[frozenset[int], ...]:
        """For each state but the final one, the variables whose conditions may still be checked from it on."""
        found = [frozenset(v for edge in edges for v in (edge.variable, *edge.unless)) for edges in self.edges]
        changed = True
        while changed:
            changed = False
            for state in reversed(range(len(found))):
                more = found[state].union(*(found[e.target] for e in self.edges[state] if e.target != self.final))
                if more != found[state]:
                    found[state], changed = more, True
        return tuple(found)


@dataclass
class _State:
    """A state while the automaton is built: the variable and the next state if it takes a row, and the state if not."""

    takes: tuple[int, _State] | None = None
    goes_on: _State | None = None
    unless_taken: set[int] = field(default_factory=set)
    unless_gone: set[int] = field(default_factory=set)

    def only_if_not(self, variable: int) -> None:
        """Leaves the state by its present edges only with a row that a greedy variable before it doesn't take."""
        if self.takes:
            self.unless_taken.add(variable)
        if self.goes_on:
            self.unless_gone.add(variable)


def automaton(elements: tuple[Element, ...]) -> Automaton:
    """The automaton of a pattern's elements."""
    final = state = _State()
    for place in reversed(range(len(elements))):
        state = _before(elements[place], place, state)
    numbers: dict[int, int] = {}
    states = list(_reached(state, numbers))
    numbers[id(final)] = len(states)
    return Automaton(len(states), tuple(tuple(_edges(s, final, numbers)) for s in states))


def _before(element: Element, variable: int, sink: _State) -> _State:
    """The first state of an element, in front of the state behind it (NFACompiler.convertPattern)."""
    if not element.is_quantified or (element.least, element.most) == (0, 1):
        return _taking(variable, sink, sink if element.is_optional else None)
    least = max(element.least, 1)
    state = sink
    if element.most is None:
        state = _State(goes_on=sink)
        if element.greedy:
            sink.only_if_not(variable)
        state.takes = variable, state
    else:
        if element.greedy and least != element.most:
            sink.only_if_not(variable)
        for _ in range(least, element.most):
            state = _taking(variable, state, sink)
    for _ in range(least - 1):
        state = _taking(variable, state, None)
    return _taking(variable, state, sink if element.is_optional else None)


def _taking(variable: int, target: _State, otherwise: _State | None) -> _State:
    return _State(takes=(variable, target), goes_on=otherwise)


def _reached(start: _State, numbers: dict[int, int]) -> Iterator[_State]:
    """The states that take rows, from the start of the pattern on."""
    waiting = [start]
    while waiting:
        state = waiting.pop(0)
        if id(state) in numbers or state.takes is None:
            continue
        numbers[id(state)] = len(numbers)
        yield state
        waiting += [way.takes[1] for way, _ in _ways(state) if way.takes]


def _ways(state: _State) -> Iterator[tuple[_State, frozenset[int]]]:
    """A state and the states that follow without taking a row, each with the variables that mustn't take the row."""
    unless: frozenset[int] = frozenset()
    at: _State | None = state
    while at is not None:
        yield at, unless
        unless |= at.unless_gone
        at = at.goes_on


def _edges(state: _State, final: _State, numbers: dict[int, int]) -> Iterator[Edge]:
    """Edges of a state (NFA.createDecisionGraph), and to the final one if it follows (findFinalStateAfterProceed)."""
    for way, passed in _ways(state):
        if way.takes is None:
            continue
        variable, target = way.takes
        unless = passed | way.unless_taken
        yield Edge(variable, numbers[id(target)], unless)
        over = next((more for at, more in _ways(target) if at is final), None)
        if over is not None and target is not final:
            yield Edge(variable, numbers[id(final)], unless | over)
