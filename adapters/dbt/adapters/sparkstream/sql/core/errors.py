"""Findings of the translator about a text: an error and a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches


class Finding(Exception):
    """Remark about a piece of a text: message, place, and a hint such as `write AS n`.

    Attributes:
        message: what is wrong, or worth knowing, in one sentence.
        line: its line in the text given to the translator, from 1.
        column: its column in that line, from 1.
        hint: how to write it instead, or None.
        source_line: the whole line of the text that it is in.
        width: how many characters from `column` on it takes.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int = 1,
        column: int = 1,
        hint: str | None = None,
        source_line: str = "",
        width: int = 1,
    ) -> None:
        self.message = message
        self.line = line
        self.column = column
        self.hint = hint
        self.source_line = source_line
        self.width = max(width, 1)
        super().__init__(str(self))

    def __str__(self) -> str:
        return self.describe(f"line {self.line}, column {self.column}")

    def describe(self, place: str) -> str:
        """The whole finding as text, with `place` (such as `models/a.sql:4:58`) before the line that it is in."""
        parts = [self.message, f"  {place}"]
        if self.source_line:
            text = self.source_line.expandtabs(1)
            # A long line is cut to what is around the fault.
            start = max(0, self.column - 1 - 60)
            shown = text[start : start + 110]
            mark = " " * (self.column - 1 - start) + "^" * min(self.width, max(1, 110 - (self.column - 1 - start)))
            parts += [f"    {shown}".rstrip(), f"    {mark}"]
        if self.hint:
            parts.append(f"  {self.hint}")
        return "\n".join(parts)


class TranslationError(Finding, ValueError):
    """SQL without a translation: message, line and column, and a hint such as `write AS n`."""


class TranslatorFault(TranslationError):
    """A fault of the translator itself, which no check foresaw; `__cause__` is what Python said."""


class TranslationWarning(Finding, UserWarning):
    """SQL that is translated, but hardly does what its author expects of it."""


Warn = Callable[[TranslationWarning], None]
"""Takes a warning."""


class RefusedError(ValueError):
    """Refusal without a place, which its catcher adds; `hint` has a text to write instead."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.hint = hint
        super().__init__(message)


class PartError(RefusedError):
    """Refusal of one part of a window or a frame, such as its `slide` or its `start`."""

    def __init__(self, part: str, message: str, hint: str | None = None) -> None:
        self.part = part
        super().__init__(message, hint)


class RequestError(ValueError):
    """A row or a query that can't be a request; the message says what to do."""


class ArgumentError(ValueError):
    """A wrong argument of one of the translator's functions, such as an unknown dialect."""


class NoRule(Exception):
    """A query that a rule doesn't apply to; the message says why, in words for the person who wrote it."""


def did_you_mean(name: object, known: Iterable[str], otherwise: str = "", *, most: int = 1, cutoff: float = 0.6) -> str:
    """The hint `did you mean tumble?` for `tumbel`.

    Args:
        known: the names that there are.
        otherwise: the hint for a name that is like none of them.
        most: how many names the hint may have.
        cutoff: how like a name has to be, from 0 to 1.
    """
    near = get_close_matches(str(name), list(known), most, cutoff)
    return f"did you mean {' or '.join(near)}?" if near else otherwise
