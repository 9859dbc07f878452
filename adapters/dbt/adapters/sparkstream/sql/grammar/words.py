"""Which words a text holds: quick looks at every statement, without sqlglot, that never miss a construct of ours."""

from __future__ import annotations

_FUNCTIONS = ("tumble", "hop", "cumulate", "session")
_SUFFIXES = ("", "_start", "_end", "_rowtime", "_proctime")
"""A window function is one of these words with one of these suffixes, and a parenthesis; in any case."""
_COMMENTS = ("--", "/*")
"""What may stand between two words beside white space."""
_CLOSINGS = {"'": "'", '"': '"', "`": "`", "--": "\n", "/*": "*/"}
"""What begins a string, a quoted name or a comment -> what ends it."""


def may_hold_windows(sql: str) -> bool:
    """Whether a Spark statement may hold one of our constructs; a quick test that never misses one."""
    text = sql.lower()
    if not (_holds_words(text) or "<<" in text):
        return False
    code = _code(text)
    return _holds_words(code) or _holds_island(code)


def _holds_words(text: str) -> bool:
    return (
        any(_followed(text, word, _SUFFIXES, ("(", *_COMMENTS)) for word in _FUNCTIONS)
        or may_hold_frames(text)
        or _followed(text, "last", ("",), ("join", *_COMMENTS))
    )


def may_hold_frames(text: str) -> bool:
    """Whether a text in lower case may hold a frame that Spark doesn't know; a quick test that never misses one."""
    return (
        "rows_range" in text
        or "instance_not_in_window" in text
        or "maxsize" in text
        or ("preceding" in text and ("open" in text or "exclude" in text or "union" in text))
    )


def _holds_island(text: str) -> bool:
    """Whether a << stands where a relation does: an island, be its function's name right or not."""
    before, *rest = text.split("<<")
    for following in rest:
        before = before.rstrip()
        if before.endswith((",", "(", "from", "join", "*/")):
            return True
        before = following
    return False


def _followed(text: str, word: str, suffixes: tuple[str, ...], by: tuple[str, ...]) -> bool:
    """Whether a word, with one of the suffixes, stands in a text with one of some texts behind it."""
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
    """A text without its strings, quoted names and comments; or all of it where it takes a tokenizer to find them."""
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
