"""A script's statements, each with the comments before it, and the script's comments without secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sqlglot.errors import TokenError
from sqlglot.tokens import Token, TokenType

from dbt.adapters.sparkstream.flinkscript.hidden import HIDDEN, is_harmless, is_harmless_setting, without_pairs
from dbt.adapters.sparkstream.secrecy import names
from dbt.adapters.sparkstream.secrecy.redaction import forms_of, redacted
from dbt.adapters.sparkstream.sql.core.errors import TranslationError
from dbt.adapters.sparkstream.sql.core.source import error_at
from dbt.adapters.sparkstream.sql.core.tokens import Span, Tokens
from dbt.adapters.sparkstream.sql.dialects.flink import Flink
from dbt.adapters.sparkstream.sql.grammar.statements import split, unclosed

_LONG = 8
_OPENING = re.compile(r"/\*+")
COMMENT = re.compile(r"--[^\n]*|/\*(?s:.*?)(?:\*/|\Z)")
"""A comment in the text between two tokens."""
_COMMENTS = re.compile(rf"--[^\n]*(?:\s+--[^\n]*)*|{COMMENT.pattern}")
"""A block comment, or line comments one below another: a secret may go over several lines."""


class _ScriptReader(Flink):
    """Flink's dialect with its comments, which end at the first `*/`; Spark's are nested."""

    class Tokenizer(Flink.Tokenizer):
        NESTED_COMMENTS = False


@dataclass(frozen=True)
class Script:
    """A script.

    Attributes:
        text: all of it; its comments are without secrets, and open no further comment where Spark reads them.
        statements: its statements, in order.
        secrets: values of it that aren't known to be harmless, in all their forms.
    """

    text: str
    statements: tuple[Statement, ...]
    secrets: frozenset[str]

    @classmethod
    def read(cls, text: str) -> Script:
        """Cuts a script into statements.

        Raises:
            TranslationError: a string, name, comment or statement set in it is never closed.
        """
        tokens = _tokens(text)
        secrets = frozenset[str]().union(
            *(forms_of(dict([pair]), names.is_harmless) for pair in _secret_pairs(text, tokens))
        )
        # What is behind a comment on its line may move; lines stay.
        text = "".join(_with_comments(text, tokens, partial(_hidden, known=secrets)))
        tokens = _tokens(text)
        return cls(text, tuple(_statements(text, split(Tokens(_words(text, tokens))))), secrets)

    def hidden(self, text: str) -> str:
        """A text of the script, such as that of a COMMENT, without secrets."""
        return _hidden(text, self.secrets)


def _hidden(text: str, known: frozenset[str]) -> str:
    return redacted(without_pairs(text), known, HIDDEN)


def _tokens(text: str) -> Tokens:
    reader = _ScriptReader()
    try:
        return Tokens(reader.tokenize(text))
    except TokenError as error:
        start = unclosed(reader, text)
        raise error_at(
            text, (start, start + 1), "a string, quoted name or comment that begins here is never closed"
        ) from error


def _secret_pairs(text: str, tokens: Tokens) -> Iterator[tuple[str, str]]:
    """Options and settings of a script, `'key' = 'value'`, whose values are to be hidden elsewhere in it, too."""
    for i, token in enumerate(tokens):
        if token.token_type is not TokenType.EQ or not 0 < i < len(tokens) - 1:
            continue
        key, value = tokens[i - 1], tokens[i + 1]
        if key.token_type is value.token_type is TokenType.STRING and _is_hidden(key.text, value.text):
            yield key.text, value.text
    for statement in split(tokens):
        if statement[0].text.upper() == "SET" and statement[-1].token_type is not TokenType.STRING:
            name, equals, written = text[statement[0].end + 1 : statement[-1].end + 1].partition("=")
            if equals and _is_hidden(name.strip(), written.strip()):
                yield name.strip(), written.strip()


def _is_hidden(key: str, value: str) -> bool:
    """True if a value isn't known to be harmless; a short one, like words of comments, only under a secret's name."""
    if not names.is_secret(key) and len(value) < _LONG:
        return False
    return not (is_harmless(key, value) or is_harmless_setting(key, value))


def _with_comments(text: str, tokens: Tokens, hidden: Callable[[str], str]) -> Iterator[str]:
    """A script in pieces, with its comments made fit for a model: without secrets, and with none within another."""

    def fit(comment: re.Match[str]) -> str:
        if not comment[0].startswith("--"):
            # Spark would take a comment within it for one that needs an end of its own.
            inner = _OPENING.sub(lambda opening: "/" * len(opening[0]), _lines_kept(comment[0][2:-2], hidden))
            return f"/*{inner}{' ' if inner.endswith('/') else ''}*/"
        lines = [line.partition("--") for line in comment[0].split("\n")]
        found = iter(_lines_kept("\n".join(text for _, mark, text in lines if mark), hidden).split("\n"))
        fitted = (f"{before}{mark}{next(found)}" if mark else before for before, mark, _ in lines)
        # Spark goes on with a comment behind a backslash at the end of its line.
        return "\n".join(f"{line} " if line.endswith("\\") else line for line in fitted)

    end = 0
    for token in tokens:
        yield _COMMENTS.sub(fit, text[end : token.start])
        yield text[token.start : token.end + 1]
        end = token.end + 1
    yield _COMMENTS.sub(fit, text[end:])


def _lines_kept(text: str, hidden: Callable[[str], str]) -> str:
    """A comment without secrets, with as many lines, so that the text after it stays on its line."""
    found = hidden(text)
    return found + "\n" * (text.count("\n") - found.count("\n"))


@dataclass(frozen=True)
class Statement:
    """A statement of a script.

    Attributes:
        tokens: its tokens, without the semicolon.
        comment: the comments between the statement before and this one, as they are written.
    """

    tokens: Tokens
    comment: str

    @property
    def span(self) -> Span:
        """Its place in the script."""
        return self.tokens.span(range(len(self.tokens)))

    @property
    def words(self) -> list[str]:
        """Its first words, in capitals."""
        return [t.text.upper() for t in self.tokens[:6]]


def _words(text: str, tokens: Tokens) -> Iterator[Token]:
    """The tokens, each of a single word: sqlglot has PRIMARY KEY as one."""
    for token in tokens:
        if " " not in token.text.strip() or token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
            yield token
            continue
        at = token.start
        for word in text[token.start : token.end + 1].split():
            at = text.index(word, at)
            yield Token(TokenType.VAR, word, token.line, token.col, at, at + len(word) - 1)
            at += len(word)


_SETS = (("EXECUTE", "STATEMENT", "SET", "BEGIN"), ("BEGIN", "STATEMENT", "SET"))
"""Words that begin a statement set; after those of the first form, a statement may follow without a semicolon."""


def _statements(text: str, found: Sequence[Tokens]) -> Iterator[Statement]:
    """The statements of a script.

    Statements in a statement set count as if they stood alone: dbt runs models side by side.
    """
    end, opened, comment = 0, None, ""
    for tokens in found:
        comment = _joined(comment, _comment(text, end, tokens[0].start))
        end = tokens[-1].end + 1
        for head in _SETS:
            if [t.text.upper() for t in tokens[: len(head)]] == list(head):
                if opened is not None:
                    raise error_at(text, _span(tokens[0]), "a statement set stands in another one", "write END; before")
                opened = tokens[0]
                behind = tokens[len(head) - 1].end + 1
                tokens = Tokens(tokens[len(head) :])
                if tokens:
                    comment = _joined(comment, _stripped(text[behind : tokens[0].start]))
                break
        if opened is not None and len(tokens) == 1 and tokens[0].token_type is TokenType.END:
            opened = None
        elif tokens:
            yield Statement(tokens, comment)
            comment = ""
    if opened is not None:
        raise error_at(text, _span(opened), "this statement set has no END", "write END; behind its last INSERT")


def _span(token: Token) -> Span:
    return token.start, token.end + 1


def _comment(text: str, end: int, start: int) -> str:
    """Comments before a statement, without those on the last line of the statement before it."""
    between = text[end:start]
    semicolon = COMMENT.sub(lambda comment: " " * len(comment[0]), between).rfind(";")
    if end and semicolon >= 0:
        between = between[semicolon + 1 :]
        line, newline, rest = between.partition("\n")
        between = rest if newline and "/*" not in line else between
    return _stripped(between)


def _stripped(comment: str) -> str:
    """A comment without white space around it; a backslash at its end isn't the end of the line."""
    found = comment.strip()
    return f"{found} " if found.endswith("\\") else found


def _joined(*comments: str) -> str:
    return "\n".join(c for c in comments if c)


class Cursor:
    """Place in the tokens of a statement, which are read one by one.

    Args:
        text: the script.
        tokens: of the statement, or of a part of it.
    """

    def __init__(self, text: str, tokens: Tokens) -> None:
        self.text = text
        self.tokens = tokens
        self.at = 0

    @property
    def current(self) -> Token | None:
        """The token that is next; None at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def sees(self, *words: str) -> bool:
        """True if words, or signs, come next."""
        following = self.tokens[self.at : self.at + len(words)]
        return len(following) == len(words) and all(
            t.text.upper() == word and t.token_type not in (TokenType.STRING, TokenType.IDENTIFIER)
            for t, word in zip(following, words, strict=True)
        )

    def takes(self, *words: str) -> bool:
        """Goes past words if they come next; True if they do."""
        if self.sees(*words):
            self.at += len(words)
            return True
        return False

    def expects(self, *words: str) -> None:
        """Goes past words that have to come next."""
        if not self.takes(*words):
            raise self.error(f"{' '.join(words)} is missing here")

    def name(self) -> str:
        """A name, without its backticks."""
        token = self.current
        if (
            token is None
            or token.token_type in (TokenType.STRING, TokenType.NUMBER)
            or not (
                token.token_type is TokenType.IDENTIFIER or token.text.replace("_", "a").replace("$", "a").isalnum()
            )
        ):
            raise self.error("a name is missing here", "a name that isn't letters, digits and _ stands in backticks")
        self.at += 1
        return token.text

    def names(self) -> tuple[str, ...]:
        """A name with dots, such as `cat.db.bid`."""
        found = [self.name()]
        while self.takes("."):
            found.append(self.name())
        return tuple(found)

    def string(self) -> str:
        """A text in quotes."""
        token = self.current
        if token is None or token.token_type is not TokenType.STRING:
            raise self.error("a text in quotes is missing here")
        self.at += 1
        return token.text

    def group(self) -> list[Cursor]:
        """A cursor for each item of a list in parentheses, which comes next; goes past the list."""
        closing = self.tokens.closing(self.at) if self.sees("(") else None
        if closing is None:
            raise self.error("a list in ( ) is missing here")
        first, self.at = self.at + 1, closing + 1
        if first == closing:
            return []
        return [Cursor(self.text, Tokens(self.tokens[p.start : p.stop])) for p in _pieces(self.tokens, first, closing)]

    def rest(self) -> Span:
        """Place of the tokens that are left; goes to the end."""
        first, self.at = self.at, len(self.tokens)
        return self.tokens.span(range(first, len(self.tokens)))

    def error(self, message: str, hint: str | None = None) -> TranslationError:
        """An error at the next token, or after the last one."""
        token = self.current
        span = _span(token) if token else (self.tokens[-1].end + 1, self.tokens[-1].end + 2) if self.tokens else (0, 1)
        return error_at(self.text, span, message, hint)


def _pieces(tokens: Tokens, first: int, last: int) -> Iterator[range]:
    """As `Tokens.pieces`, but a comma between the < and > of a type is none: `m MAP<STRING, INT>`."""
    depth, start, computed = 0, first, False
    for i in tokens.level(first, last):
        kind = tokens[i].token_type
        if kind is TokenType.ALIAS:
            computed = True  # behind AS stands an expression, where < compares
        elif not computed and kind is TokenType.LT:
            depth += 1
        elif not computed and kind is TokenType.GT:
            depth -= 1
        elif kind is TokenType.COMMA and depth <= 0:
            yield range(start, i)
            start, depth, computed = i + 1, 0, False
    yield range(start, last)
