"""Endings of a streaming query: the SQL that runs on each micro-batch, and the rows kept for the next one.

Each kind of ending names the views that its queries read. Whoever runs a plan makes these views for each micro-batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

CLOSED = "__closed_rows"
"""The view that holds the rows which a micro-batch has closed."""

SO_FAR = "__rows_so_far"
"""The view that holds the kept rows and the new ones."""

KEPT = "__kept_rows"
"""The view that holds what a micro-batch has kept."""

UNTIL = "__closed_until"
"""The view with one row: a micro-batch closes the windows that end after `since` and not after `until`, on the clock.

`dropped` is the time up to which windows have left the state before it: `since`, or earlier by the lateness of rows
that correct closed windows. `since_at`, `until_at` and `dropped_at` are the same as instants.
"""

NEW = "__is_new"
"""The column that tells rows of a micro-batch from rows of earlier ones."""

TOUCHED = "__touched"
"""The column that says whether a micro-batch has brought rows to a slice or window, where late rows correct windows."""


@dataclass(frozen=True)
class Direct:
    """Ending without a query: the rows of the streaming query are final, and go into the table as they are."""

    query: ClassVar[None] = None
    flagged: ClassVar[bool] = False

    def describe(self) -> str:
        return ""


@dataclass(frozen=True)
class OnClosed:
    """Ending by a query on the rows that a micro-batch has closed.

    Attributes:
        query: gives the table's rows, over `CLOSED`.
    """

    query: str
    flagged: ClassVar[bool] = False

    def describe(self) -> str:
        """The queries, with what their views hold."""
        return f"/* {CLOSED} is what is closed of the above in a micro-batch; its rows go through */\n{self.query}"


@dataclass(frozen=True)
class OnHistory(OnClosed):
    """Ending by a query that needs closed rows of earlier micro-batches too, as OVER across windows does.

    Attributes:
        query: gives the table's rows, over `CLOSED`, where `NEW` flags rows of this micro-batch.
        kept: gives the rows that later micro-batches need, over `CLOSED`.
    """

    kept: str
    flagged: ClassVar[bool] = True


@dataclass(frozen=True)
class OnSessions:
    """Ending for the rows of sessions, which wait until their session is closed.

    Attributes:
        part: what needs the rows, for messages.
        query: gives the table's rows, over `CLOSED`.
        kept: gives the rows of open sessions, over `SO_FAR` and `UNTIL`.
        closed: gives `CLOSED`, over `SO_FAR` and `UNTIL`.
    """

    query: str
    kept: str
    closed: str
    flagged: ClassVar[bool] = False
    part: ClassVar[str] = "SESSION"
    _kept: ClassVar[str] = "of sessions that were open before it"

    def describe(self) -> str:
        """The queries, with what their views hold."""
        return (
            f"/* {SO_FAR} is what has left the above by a micro-batch, {self._kept};\n"
            f"   {CLOSED} is what is closed by now */\nCREATE VIEW {CLOSED} AS\n{self.closed}\n\n{self.query}"
        )


@dataclass(frozen=True)
class OnMatches(OnSessions):
    """Ending for the rows of a MATCH_RECOGNIZE, which wait until they are in a match, or can't be in one any more.

    Attributes:
        kept: gives the rows that unfinished matches may be made of, over `SO_FAR` and `UNTIL`.
        closed: gives `CLOSED`, the matches, over `SO_FAR` and `UNTIL`.
    """

    part: ClassVar[str] = "MATCH_RECOGNIZE"
    _kept: ClassVar[str] = "with the rows of matches that were unfinished before it"


@dataclass(frozen=True)
class OnSlices:
    """Ending for slices that a micro-batch has changed; windows are made of them when they close.

    Attributes:
        query: gives the table's rows, over `CLOSED`.
        kept: gives `KEPT`, the slices of open windows, over `SO_FAR`, where `NEW` flags slices of this micro-batch.
        closed: gives `CLOSED`, over `KEPT` and `UNTIL`.
        open: gives `CLOSED` for the windows that stay open, over the same; None where nobody sees them.
        corrected: gives the `window_end` of the windows in `CLOSED` that were closed before and have got late rows;
            None where late rows correct nothing.
        end: the column of the table's rows that has the end of their window; None where late rows correct nothing.
    """

    query: str
    kept: str
    closed: str
    open: str | None = None
    corrected: str | None = None
    end: str | None = None
    flagged: ClassVar[bool] = True

    def describe(self) -> str:
        """The queries, with what their views hold."""
        text = (
            f"/* {SO_FAR} is what the above has changed in a micro-batch, and what was kept before;\n"
            f"   {CLOSED} is what is closed by now */\nCREATE VIEW {KEPT} AS\n{self.kept};\n\n"
            f"CREATE VIEW {CLOSED} AS\n{self.closed};\n\n{self.query}"
        )
        if self.open is not None:
            text += f"\n\n/* the same query gives the open windows, of */\n{self.open}"
        if self.corrected is not None:
            text += f"\n\n/* these windows take the place of what the table has of them */\n{self.corrected}"
        return text


@dataclass(frozen=True)
class OnWindows(OnSlices):
    """Ending for windows in the place of slices: the windows that are open are kept."""


Ending = Direct | OnClosed | OnHistory | OnSessions | OnSlices
