"""Search of a text for our words before parsing: without sqlglot, in microseconds."""

from __future__ import annotations

_FUNCTIONS = ("tumble", "hop", "cumulate", "session")
_SUFFIXES = ("", "_start", "_end", "_rowtime", "_proctime")
"""Suffixes of window functions: a call is a word, a suffix and a parenthesis, in upper or lower case."""
_FRAME_WORDS = ("rows_range", "instance_not_in_window", "maxsize")
"""Words that only a frame of ours has."""
_BESIDE_PRECEDING = ("open", "exclude", "union")
"""Words of our frames other than PRECEDING; other statements have them, too."""
_COMMENTS = ("--", "/*")
"""Comments, which may stand between two words as white space may."""
_CLOSINGS = {"'": "'", '"': '"', "`": "`", "--": "\n", "/*": "*/"}
"""Beginning of a string, a quoted name or a comment -> its end."""


def may_hold_windows(sql: str, skewed: bool = False) -> bool:
    """True if a statement in dialect `spark` may hold one of our constructs.

    It never misses a construct: a statement for which this is False needs no translation. Where it is True, the parser
    may still find none, such as in `SELECT maxsize FROM t`.

    Args:
        skewed: True if frames of Spark's own are rewritten, too, so that OVER is such a construct.
    """
    text = sql.lower()
    if skewed and "over" in text:
        return True
    # Most statements hold none of our words anywhere, and finding out costs less than taking out their strings.
    if not (_holds_words(text) or "<<" in text):
        return False
    code = _code(text)
    return _holds_words(code) or _holds_island(code)


def _holds_words(text: str) -> bool:
    return (
        any(_followed(text, word, _SUFFIXES, ("(", *_COMMENTS)) for word in _FUNCTIONS)
        or may_hold_frames(text)
        or any(_followed(text, word, ("",), ("join", *_COMMENTS)) for word in ("last", "asof"))
    )


def may_hold_frames(text: str) -> bool:
    """True if a text in lower case may hold a frame that Spark doesn't know; never misses one."""
    return any(word in text for word in _FRAME_WORDS) or (
        "preceding" in text and any(word in text for word in _BESIDE_PRECEDING)
    )


def _holds_island(text: str) -> bool:
    """True if a `<<` is in the place of a relation: an island, also if its function's name is misspelt."""
    before, *rest = text.split("<<")
    for following in rest:
        before = before.rstrip()
        if before.endswith((",", "(", "from", "join", "*/")):
            return True
        before = following
    return False


def _followed(text: str, word: str, suffixes: tuple[str, ...], by: tuple[str, ...]) -> bool:
    """Search for a word with one of the suffixes, with one of the texts `by` behind it.

    Example: `_followed("from hop (t)", "hop", ("", "_start"), ("(",))`.
    """
    at = text.find(word)
    while at >= 0:
        if not (at and (text[at - 1].isalnum() or text[at - 1] == "_")):
            for suffix in suffixes:
                end = at + len(word) + len(suffix)
                if text.startswith(suffix, at + len(word)) and _after_blank(text, end).startswith(by):
                    return True
        at = text.find(word, at + 1)
    return False


def _code(text: str) -> str:
    """A text without its strings, quoted names and comments.

    Gives the whole text where only a tokenizer tells what is a string: with backslashes, comments in comments.
    """
    if "\\" in text or "\r" in text:
        return text
    text += "\n"
    code, at = [], 0
    starts = {opening: start for opening in _CLOSINGS if (start := text.find(opening)) >= 0}
    while starts:
        opening = min(starts, key=starts.__getitem__)
        inside = starts[opening] + len(opening)
        end = text.find(_CLOSINGS[opening], inside)
        if end < 0 or (opening == "/*" and "/*" in text[inside:end]):
            return text
        code.append(text[at : starts[opening]])
        at = end + len(_CLOSINGS[opening])
        starts = {o: new for o, old in starts.items() if (new := old if old >= at else text.find(o, at)) >= 0}
    return " ".join((*code, text[at:]))


def _after_blank(text: str, at: int) -> str:
    """The next few characters that are no white space."""
    while at < len(text) and text[at].isspace():
        at += 1
    return text[at : at + 8]
