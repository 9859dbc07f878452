"""MATCH_RECOGNIZE on a stream.

The rows leave the stream when the watermark has passed their time, so they come in the order of their time. Matches
are searched in the rows of each micro-batch, together with the rows since an unfinished match began. These rows are
kept for the next micro-batch; with WITHIN, for as long as a later row may be in time. So matches of the kept rows and
the new ones are the matches of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import Warn
from dbt.adapters.sparkstream.sql.core.matching import MatchRecognize
from dbt.adapters.sparkstream.sql.core.names.columns import Resolver
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import WindowFunction
from dbt.adapters.sparkstream.sql.grammar.specs import FramedWindow
from dbt.adapters.sparkstream.sql.passes.match.lowering import Matches
from dbt.adapters.sparkstream.sql.streaming.above import Part, check_around, reads_from
from dbt.adapters.sparkstream.sql.streaming.asofjoins import own_frames
from dbt.adapters.sparkstream.sql.streaming.endings import SO_FAR, UNTIL, OnMatches
from dbt.adapters.sparkstream.sql.streaming.names import Streams, ctes_of
from dbt.adapters.sparkstream.sql.streaming.sessions import leaves_stream

MATCHES = Part("a MATCH_RECOGNIZE", "make the matches a streaming model of their own, and read that")


@dataclass(frozen=True)
class RowMatches:
    """A MATCH_RECOGNIZE whose rows leave the stream.

    Attributes:
        match: the MATCH_RECOGNIZE.
        matches: writes it, when its expressions are edited.
        name: name of the relation that it reads, as it is written; empty without one.
    """

    match: MatchRecognize
    matches: Matches
    name: str

    @property
    def time(self) -> exp.Expr:
        """The column by whose order rows leave the stream."""
        time: exp.Expr = self.match.order[0].this
        return time

    def ending(self, query: str) -> OnMatches:
        """Ending that brings the matches into the table; `query` is the `query` of `OnMatches`."""
        rows = f"{SO_FAR} AS {self.name}" if self.name else SO_FAR
        search = self.matches.over(self.match, rows, ["*"], UNTIL)
        return OnMatches(query, "\n".join(search.kept()), "\n".join(["SELECT * FROM", *search.lines()]))

    def warn_of_growth(self, source: Source, warn: Warn) -> None:
        """Warns of rows that are kept for ever."""
        if self.match.pattern.within is None:
            message = "without WITHIN, the rows since a match has begun are kept until it ends, and it may never end"
            warn(source.warning(source.call_span(self.match), message, "write PATTERN (...) WITHIN INTERVAL '1' HOUR"))


def row_matches(tree: exp.Expr, source: Source, streams: Streams, resolver: Resolver) -> RowMatches | None:
    """The MATCH_RECOGNIZE of a query of a stream; None where it has none.

    Raises:
        TranslationError: there are several, or what is around it needs rows of several micro-batches.
    """
    found = [match for match in tree.find_all(MatchRecognize) if streams.feeds(match.this)]
    if not found:
        return None
    if len(found) > 1:
        message = "a streaming model can't have several MATCH_RECOGNIZE"
        raise source.error(source.call_span(found[1]), message, MATCHES.hint)
    [match] = found
    below = (match.this, *ctes_of(match.this))
    for node in below:
        _check_below(node, source)
    check_around(tree, match, below, source, streams, MATCHES)
    for around in tree.find_all(exp.Select):
        places = [around.args.get("group"), *own_frames(around)]
        needs = [place for place in places if place is not None]
        if needs and not any(reads_from(node, around) for node in below) and reads_from(around, match):
            raise MATCHES.needs_several(needs[0], source)
    return RowMatches(match, Matches(source, resolver), source.name_of(match.this))


def _check_below(node: exp.Expr, source: Source) -> None:
    """Refuses what has its own way of making rows wait."""
    waiting: exp.Expr | None = node.find(exp.Window, FramedWindow)
    for function in node.find_all(WindowFunction):
        waiting = function if leaves_stream(function) else waiting
    for table in node.find_all(exp.Table):
        waiting = table if table.args.get("version") is not None else waiting
    if waiting is not None:
        raise source.error(
            waiting,
            f"OVER, the rows of a SESSION or a join as of a time below {MATCHES.name} doesn't stream",
            "make what is below the MATCH_RECOGNIZE a streaming model of its own, and read that",
        )
