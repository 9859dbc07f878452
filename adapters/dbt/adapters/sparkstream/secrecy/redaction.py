"""Secrets, kept out of what people and files get to see: profiles, errors, logs and the process list.

Values come first: each value that a secret key of the profile, of its settings, of a source or sink, or that a variable
`DBT_ENV_SECRET_...` has is known, and is replaced wherever it stands. Patterns come second, for secrets that nobody has
told. Data can fill the text, so each step reads it once: no expression here goes back further than a bound.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from urllib.parse import quote, quote_plus, unquote

from dbt.adapters.sparkstream.secrecy.names import ENV_SECRET, holds_none, is_common, is_harmless, is_secret

HIDDEN = "*****"
"""What stands for a secret, as in dbt's own output."""

_NAME = re.compile(r"[\w.$-]+")
_ASSIGNS = re.compile(
    r"\\{0,7}[\"'`]?\]?\s{0,20}(?:=>|->|=|:(?!:)|%3[Dd]|\\{1,7}u003[Dd])\s{0,20}"
    r"|\\{0,7}[\"'`]\s{0,20},\s{0,20}(?:value\s{0,5}=\s{0,5})?(?=\\{0,7}[\"'])"
    r"|\\{0,7}[\"'`]?\s{1,20}(?=\\{0,7}[\"'])"
    r"|</name>\s{0,20}<value>"
)
"""What may be between a name and its value: `password=x`, `"password": "x"`, `('password', 'x')`, `password 'x'`."""
_PAIR = re.compile(r",|\s{0,20}(?:\t|\s\s)\s{0,20}")
"""The same behind a setting of Spark's: a pair of Scala's, and a line of `spark-defaults.conf`."""
_QUOTE = re.compile(r"(\\{0,7})([\"'])")
_BLANKS = re.compile(r"\s{1,20}(?=[^\s-])")
"""The same on a command line: `--password x`."""
_WORD = re.compile(r"\w")
_ENDS = re.compile(
    r"\n|, |,(?=\w{1,200}=)| -(?=[A-Z-])|[&;](?=[\w.-]{1,200}=|\s|$)|[})\]](?=[\s,;)}\]]|$)|[\"'](?=[\s,;)}\]]|$)"
)
"""Where a value without quotes ends: with its line, or where another value, option or bracket begins or ends."""
_LIST_ENDS = re.compile(r"[\]\n]")
_SCHEME = re.compile(
    r"\bbearer\s{1,5}(?!(?:token|tokens|auth|authentication|authorization|scheme|realm|credentials|header|is|of|or|and)\b)"
    r"([^\s\"'<>\\,;]{1,10000})|\bbasic\s{1,5}([A-Za-z0-9+/]{4,10000}={0,2})",
    re.IGNORECASE,
)
"""Credentials as HTTP sends them, behind the name of their scheme."""
_KEY = "-----BEGIN ", "PRIVATE KEY-----", "-----END "
_ITEM = re.compile(
    r"(?<![\w.$-])([\w.$-]+)\s{0,20}=\s{0,20}(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s;\"']+))", re.DOTALL
)
"""Part of a login, as Java's modules read it: `password="x"`, `password=x`."""
_LOGIN = re.compile(r"user[._-]info|credential|authorization", re.IGNORECASE)
"""Names of settings that hold `user:password`."""
_URL = re.compile(r"://(?=[^\s@\"'<>]{0,300}@)")
_AUTHORITY = re.compile(r"[^\s\"'<>]{1,1000}")
CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
"""Azure's addresses, which have a container before the @."""
_ORACLE = re.compile(r"(jdbc:oracle:\w{1,10}:[^\s/@\"']{1,100}/)[^\s@\"']{1,100}(?=@)")
_CONNECT = re.compile(r"\bsc://[^\s\"']+")
_CONNECT_PARAMETERS = ("use_ssl", "user_id", "user_agent", "session_id", "grpc_max_message_size", "x-connect-host")
"""Parameters of an address of Spark Connect that say nothing secret; all others are sent as headers."""

_SHORTEST = 4
"""A known value of fewer characters isn't looked for: it would hide parts of words."""
_WHOLE = 8
"""One of fewer characters than this is looked for as a whole word only."""

_lock = threading.Lock()
_known: frozenset[str] = frozenset()


def learn(values: Mapping[str, object], harmless: Callable[[str], bool] = holds_none) -> None:
    """Takes note of secrets, which `redacted` then replaces wherever they stand.

    Args:
        values: names of settings, options or variables -> their values. Logins in addresses count under any name.
        harmless: whether a value under a name is no secret: `is_harmless` of Spark's settings, `is_harmless_option` of
            a source's or sink's options; else all are but those whose names say that they are secret.
    """
    found = forms_of(values, harmless)
    global _known
    with _lock:
        if not found <= _known:
            _known = _known | found


def forms_of(values: Mapping[str, object], harmless: Callable[[str], bool] = holds_none) -> frozenset[str]:
    """The secrets that `learn` takes note of, in all forms in which they may be written."""
    return frozenset(
        form
        for name, value in values.items()
        if isinstance(value, (str, int, float)) and not isinstance(value, bool)
        for part in _parts(name, str(value), harmless)
        if len(part) >= _SHORTEST and not is_common(part)
        for form in _forms(part)
    )


def learn_environment() -> None:
    """Takes note of the values of dbt's secret variables."""
    learn({name: value for name, value in os.environ.items() if name.startswith(ENV_SECRET)})


def _parts(name: str, value: str, harmless: Callable[[str], bool]) -> Iterator[str]:
    """The secrets in a value: all of it, and what is assigned in it, as in a login of Java."""
    if is_secret(name) or not (harmless(name) or value.isdigit()):
        yield value.strip()
        for item in _ITEM.finditer(value):
            if not is_harmless(item[1]):
                yield item[2] or item[3] or item[4] or ""
        if _LOGIN.search(name):
            yield value.partition(":")[2]
        if "\n" in value:  # each line of a key, which is shown on a line of its own
            yield from (line.strip() for line in value.splitlines() if len(line.strip()) >= _WHOLE and "=" not in line)
    for start, end in _spans(value):
        yield value[start:end]
    for scheme in _SCHEME.finditer(value):
        yield scheme[1] or scheme[2]


def _forms(part: str) -> Iterator[str]:
    """A secret as SQL, JSON, Python and addresses write it."""
    in_json = json.dumps(part)[1:-1]
    encoded = quote(part, safe="")
    yield part
    yield unquote(part)
    yield re.sub(r"\\(.)", r"\1", part)
    yield encoded
    yield re.sub("%..", lambda code: code[0].lower(), encoded)
    yield quote_plus(part)
    yield in_json
    yield json.dumps(in_json)[1:-1]
    yield repr(part)[1:-1]
    yield part.replace("\\", "\\\\").replace('"', '\\"')
    yield part.replace("\\", "\\\\").replace("'", "\\'")
    yield part.replace("'", "''")


@lru_cache(maxsize=4)
def _known_pattern(known: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(_found_as(value) for value in sorted(known, key=len, reverse=True)))


def _found_as(value: str) -> str:
    """The expression that finds a value; its first character comes first, by which Python finds it fast."""
    if len(value) >= _WHOLE:
        return re.escape(value)
    first, rest = re.escape(value[0]), re.escape(value[1:])
    begins = rf"(?:(?<!\w{first})|(?<=\\[nrt]{first}))" if re.match(r"\w", value) else ""
    ends = r"(?!\w)" if re.search(r"\w\Z", value) else ""
    return first + begins + rest + ends


def redacted(text: str, known: frozenset[str] = frozenset(), hidden: str = HIDDEN) -> str:
    """A text with `*****` for the secrets in it.

    These are: values that were learnt; values behind names that say so (`password=...`, `'password' = '...'`); logins
    before a host (`//me:...@host`); what HTTP has as credentials (`Bearer ...`); private keys; in addresses of Spark
    Connect, all parameters that aren't known to be harmless.

    Args:
        text: the text.
        known: further values, as `forms_of` gives them.
        hidden: what stands for a secret.
    """
    if known := _known | known:
        text = _known_pattern(known).sub(hidden, text)
    text = _CONNECT.sub(lambda address: _connect(address[0], hidden), text)
    text = _ORACLE.sub(rf"\g<1>{hidden}", text)
    text = _SCHEME.sub(lambda scheme: _without_credentials(scheme, hidden), _without_keys(text, hidden))
    pieces, at = [], 0
    for start, end in _spans(text):
        pieces += [text[at:start], hidden]
        at = end
    return "".join([*pieces, text[at:]])


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The places of values whose names say that they are secret, and of passwords before a host, in their order."""
    logins = _logins(text)
    login = next(logins, None)
    at = 0
    while name := _NAME.search(text, at):
        since, at = at, name.end()
        while login is not None and login[0] < at:
            if login[0] >= since:
                at = max(at, login[1])
                yield login
            login = next(logins, None)
        if at > name.end() or not is_secret(name[0]):
            continue
        assigns = _ASSIGNS.match(text, at)
        if assigns is None and name[0].startswith("--"):
            assigns = _BLANKS.match(text, at)
        elif assigns is None and name[0].startswith("spark."):
            assigns = _PAIR.match(text, at)
        elif assigns is not None and "token" in name[0].lower() and not re.search("[=:,]", assigns[0]):
            continue  # unexpected token 'x'
        if assigns is None or (": " in assigns[0] and _ends_path(text, name.start())):
            continue
        start, end = _value(text, assigns.end())
        if end > start and not text.startswith(HIDDEN, start):
            yield start, end
        at = max(end, at)


def _ends_path(text: str, at: int) -> bool:
    """Whether a name is the last of a path: `can't read /etc/shop/secrets.conf: Permission denied`."""
    if not text.startswith("/", at - 1 if at else 0):
        return False
    return text[max(0, at - 300) : at].split()[-1].lstrip("'\"(=").startswith(("/", "./", "../", "~"))


def _value(text: str, at: int) -> tuple[int, int]:
    """Where a value begins and ends that is written at a place."""
    opened = _QUOTE.match(text, at)
    if opened is None:
        ends = _LIST_ENDS.search(text, at) if text.startswith("[", at) else _ENDS.search(text, at)
        return at, ends.start() if ends else len(text)
    depth, mark = 2 * len(opened[1]) + 2, opened[2]
    start, found, skipped, lines = opened.end(), opened.end() - 1, False, False
    while (found := text.find(mark, read := found + 1)) >= 0:
        lines = lines or text.find("\n", read, found) >= 0
        if skipped and lines:
            break
        end = found
        while end > start and text[end - 1] == "\\":
            end -= 1
        if found - end < len(opened[1]):  # the text around ends
            return start, end
        if (found - end) % depth != len(opened[1]):  # written with more backslashes: it belongs to the value
            continue
        if text.startswith(opened[0], found + 1):  # and so does a doubled one
            found += len(opened[0])
        elif _WORD.match(text, found + 1) and not lines:  # and most likely one in the middle of a word
            skipped = True
        else:
            return start, found - len(opened[1])
    line = text.find("\n", start)
    return start, len(text) if line < 0 else line


def _without_keys(text: str, hidden: str) -> str:
    """A text without private keys, which have several lines."""
    begins, kind, ends = _KEY
    shown: list[str] = []
    at = 0
    while (found := text.find(kind, at)) >= 0:
        since, key = at, found + len(kind)
        shown.append(text[at:key])
        at = key
        if begins in text[max(since, found - 60) : found]:
            shown.append(hidden)
            at = text.find(ends, key)
            if at < 0:
                return "".join(shown)
    return "".join([*shown, text[at:]])


def _without_credentials(scheme: re.Match[str], hidden: str) -> str:
    given = scheme[1] or scheme[2]
    if scheme[2] is not None:
        try:
            if b":" not in base64.b64decode(scheme[2], validate=True):
                return scheme[0]
        except binascii.Error:
            return scheme[0]
    return scheme[0].removesuffix(given) + hidden


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
        if not colon and text.endswith(CONTAINERS, 0, url.start()):
            continue
        if hidden and not hidden.startswith(HIDDEN):
            yield start, url.end() + len(login)


def _connect(address: str, hidden: str) -> str:
    host, *parameters = address.split(";")
    shown = [host]
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        shown.append(name + equals + (value if name in _CONNECT_PARAMETERS or not value else hidden))
    return ";".join(shown)
