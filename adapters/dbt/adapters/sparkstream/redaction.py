"""Secrets, kept out of what people and files get to see: profiles, errors, logs and the process list.

Values come first: each value that a secret key of the profile, of its settings, of a source or sink, or that a variable
`DBT_ENV_SECRET_...` has is known, and is replaced wherever it stands. Patterns come second, for secrets that nobody has
told. Data can fill the text, so each step reads it once: no expression here goes back further than a bound.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote, quote_plus, unquote

HIDDEN = "*****"
"""What stands for a secret, as in dbt's own output."""

ENV_SECRET = "DBT_ENV_SECRET_"  # noqa: S105 - a name
"""How the names of dbt's secret variables begin."""

_SECRET = re.compile(
    r"secret|passw(?:or)?d|passphrase|pwd|token|authorization|signature|jaas[._-]?config|auth[._-]user[._-]info"
    r"|credential(?!s?[._-]?provider)"
    r"|(?:access|account|api|private|shared|encryption|keystore|storage|signing|session|master)[._-]?key(?![a-z])"
    r"|(?<![a-z])(?:sas|sig)(?![a-z])",
    re.IGNORECASE,
)
_HARMLESS = re.compile(r"(?:tokens?[._-]?(?:count|type|provider|file|id)|max[._-]?tokens)$", re.IGNORECASE)
"""Ends of names that have one of these words and hold no secret."""

_NAME = re.compile(r"[\w.$-]+")
_ASSIGNS = re.compile(r"\\{0,3}[\"'`]?\s{0,20}(?:=>|=|:(?!:))\s{0,20}|\\{0,3}[\"'`]?\s{1,20}(?=\\{0,3}[\"'])")
"""What may be between a name and its value: `password=x`, `'password' = 'x'`, `"password": "x"`, `password 'x'`."""
_QUOTE = re.compile(r"(\\{0,3})([\"'])")
_ENDS = re.compile(
    r"\n|, |,(?=\w{1,200}=)| -(?=[A-Z-])|[&;](?=[\w.-]{1,200}=|\s|$)|[})\]](?=[\s,;)}\]]|$)|[\"'](?=[\s,;)}\]]|$)"
)
"""Where a value without quotes ends: with its line, or where another value, option or bracket begins or ends."""
_URL = re.compile(r"://(?=[^\s@\"'<>]{0,300}@)")
_AUTHORITY = re.compile(r"[^\s\"'<>]{1,1000}")
_ORACLE = re.compile(r"(jdbc:oracle:\w{1,10}:[^\s/@\"']{1,100}/)[^\s@\"']{1,100}(?=@)")
_CONNECT = re.compile(r"\bsc://[^\s\"']+")
_CONNECT_PARAMETERS = ("use_ssl", "user_id", "user_agent", "session_id", "grpc_max_message_size", "x-connect-host")
"""Parameters of an address of Spark Connect that say nothing secret; all others are sent as headers."""

_SHORTEST = 4
"""A known value of fewer characters isn't looked for: it would hide parts of words."""
_WORDS = frozenset(("true", "false", "none", "null", "default", "required", "localhost"))

_lock = threading.Lock()
_known: frozenset[str] = frozenset()


def is_secret(name: str) -> bool:
    """Whether a setting of this name holds a secret, such as `spark.hadoop.fs.s3a.secret.key`."""
    return _SECRET.search(name) is not None and _HARMLESS.search(name) is None


def learn(values: Mapping[str, object]) -> None:
    """Takes note of secrets, which `redacted` then replaces wherever they stand.

    Args:
        values: names of settings, options or variables -> their values. Those count whose names say so, and logins in
            addresses under any name.
    """
    found = {
        form
        for name, value in values.items()
        if isinstance(value, str)
        for part in _parts(name, value)
        if len(part) >= _SHORTEST and part.lower() not in _WORDS
        for form in _forms(part)
    }
    global _known
    with _lock:
        if not found <= _known:
            _known = _known | found


def learn_environment() -> None:
    """Takes note of the values of dbt's secret variables."""
    learn({name: value for name, value in os.environ.items() if name.startswith(ENV_SECRET)})


def _parts(name: str, value: str) -> Iterator[str]:
    """The secrets in a value: all of it, and what is quoted or assigned in it, as in a login of Java."""
    if is_secret(name):
        yield value
        yield from (
            item.strip(" ;") for item in re.split(r"[\"']", value) if "=" not in item and " " not in item.strip()
        )
    for start, end in _spans(value):
        yield value[start:end]


def _forms(part: str) -> Iterator[str]:
    """A secret as SQL, JSON, Python and addresses write it."""
    yield part
    yield unquote(part)
    yield quote(part, safe="")
    yield quote_plus(part)
    yield json.dumps(part)[1:-1]
    yield repr(part)[1:-1]
    yield part.replace("\\", "\\\\").replace('"', '\\"')
    yield part.replace("\\", "\\\\").replace("'", "\\'")
    yield part.replace("'", "''")


@lru_cache(maxsize=4)
def _known_pattern(known: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(value) for value in sorted(known, key=len, reverse=True)))


def redacted(text: str) -> str:
    """A text with `*****` for the secrets in it.

    These are: values that were learnt; values behind names that say so (`password=...`, `'password' = '...'`); logins
    before a host (`//me:...@host`); in addresses of Spark Connect, all parameters that aren't known to be harmless.
    """
    if _known:
        text = _known_pattern(_known).sub(HIDDEN, text)
    text = _CONNECT.sub(lambda address: _connect(address[0]), text)
    text = _ORACLE.sub(rf"\g<1>{HIDDEN}", text)
    pieces, at = [], 0
    for start, end in _spans(text):
        pieces += [text[at:start], HIDDEN]
        at = end
    return "".join([*pieces, text[at:]])


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The places of values whose names say that they are secret, and of passwords before a host, in their order."""
    logins = _logins(text)
    login = next(logins, None)
    at = 0
    while name := _NAME.search(text, at):
        at = name.end()
        while login is not None and login[0] < at:
            if login[0] >= name.start():
                at = max(at, login[1])
                yield login
            login = next(logins, None)
        if at > name.end() or not is_secret(name[0]):
            continue
        assigns = _ASSIGNS.match(text, at)
        if assigns is None or ("=" not in assigns[0] and ":" not in assigns[0] and "token" in name[0].lower()):
            continue
        start, end = _value(text, assigns.end())
        if end > start and not text.startswith(HIDDEN, start):
            yield start, end
        at = max(end, at)


def _value(text: str, at: int) -> tuple[int, int]:
    """Where a value begins and ends that is written at a place."""
    opened = _QUOTE.match(text, at)
    if opened is None:
        ends = _ENDS.search(text, at)
        return at, ends.start() if ends else len(text)
    start, closing = opened.end(), opened[0]
    end = text.find(closing, start)
    while end >= 0:
        escapes = end
        while escapes > start and text[escapes - 1] == "\\":
            escapes -= 1
        if (end - escapes) % 2 == 0 and not text.startswith(opened[2], end + len(closing)):
            return start, end
        end = text.find(closing, end + (1 if (end - escapes) % 2 else len(closing) + 1))
    line = text.find("\n", start)
    return start, len(text) if line < 0 else line


def _logins(text: str) -> Iterator[tuple[int, int]]:
    """The places of passwords, or of lone users, before a host: `//me:...@host`, `//...@host`."""
    at = 0
    while url := _URL.search(text, at):
        authority = _AUTHORITY.match(text, url.end())
        if authority is None:
            at = url.end()
            continue
        at = authority.end()
        host = authority[0].replace("?", "/").partition("/")[0]
        if "@" not in host and (":" not in host or host.rpartition(":")[2].isdigit()):
            continue  # the @ is in the path
        login = authority[0].rpartition("@")[0]
        user, colon, password = login.partition(":")
        start = url.end() + (len(user) + 1 if colon else 0)
        hidden = password if colon else user
        if hidden and not hidden.startswith(HIDDEN):
            yield start, url.end() + len(login)


def _connect(address: str) -> str:
    host, *parameters = address.split(";")
    shown = [host]
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        shown.append(name + equals + (value if name in _CONNECT_PARAMETERS or not value else HIDDEN))
    return ";".join(shown)
