"""Secrets, kept out of what people and files get to see: profiles, errors, logs and the process list.

Values come first: each value that a secret key of the profile, of its settings, of a source or sink, or that a variable
`DBT_ENV_SECRET_...` has is known, and is replaced wherever it is. Patterns come second, for secrets that aren't known.
Data can fill the text, so each step reads it once: no expression here goes back further than a bound.
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
from dbt.adapters.sparkstream.secrecy.written import HIDDEN, spans

_SCHEME = re.compile(
    r"\bbearer\s{1,5}(?!(?:token|tokens|auth|authentication|authorization|scheme|realm|credentials|header|is|of|or|and)\b)"
    r"([^\s\"'<>\\,;]{1,10000})|\bbasic\s{1,5}([A-Za-z0-9+/]{4,10000}={0,2})"
    r"|(?<![\w-])((?:eyJ[\w-]{8,10000}\.){2}[\w-]{0,10000}|dapi[0-9a-f]{32}|gh[oprsu]_\w{36}|xox[abeprs]-[\w-]{10,200})"
    r"|\bmysql\w{0,10}\s[^\n]{0,200}?\s-p(\S{1,200})",
    re.IGNORECASE,
)
"""Credentials as HTTP sends them, after the name of their scheme; and tokens that are recognised by their form."""
_KEY = re.compile(r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----).*?(-----END |\Z)", re.DOTALL)
_ITEM = re.compile(
    r"(?<![\w.$-])([\w.$-]+)\s{0,20}=\s{0,20}(?:\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'|([^\s;\"']+))", re.DOTALL
)
"""Part of a login, as Java's modules read it: `password="x"`, `password=x`."""
_LOGIN = re.compile(r"user[._-]info|credential|authorization", re.IGNORECASE)
"""Names of settings that hold `user:password`."""
_ORACLE = re.compile(r"(jdbc:oracle:\w{1,10}:[^\s/@\"']{1,100}/)(?:\"[^\s\"]{1,100}\"|[^\s@\"']{1,100})(?=@)")
_CONNECT = re.compile(r"\bsc://[^\s\"']+")
_CONNECT_PARAMETERS = ("use_ssl", "user_id", "user_agent", "session_id", "grpc_max_message_size", "x-connect-host")
"""Parameters of an address of Spark Connect that hold no secret; all others are sent as headers."""

_SHORTEST = 4
"""Least characters of a known value that is looked for: a shorter one would hide parts of words."""
_WHOLE = 8
"""Least characters of a known value that is looked for within words, too."""

_lock = threading.Lock()
_known: frozenset[str] = frozenset()


def learn(values: Mapping[str, object], harmless: Callable[[str], bool] = holds_none) -> None:
    """Records secrets, which `redacted` then replaces wherever they are in a text.

    Args:
        values: names of settings, options or variables -> their values. Logins in addresses count under any name.
        harmless: True for a name whose value is no secret: `is_harmless` for Spark's settings, `is_harmless_option` for
            options of a source or sink; by default, True for all names that don't look like that of a secret.
    """
    found = forms_of(values, harmless)
    global _known
    with _lock:
        if not found <= _known:
            _known = _known | found


def forms_of(values: Mapping[str, object], harmless: Callable[[str], bool] = holds_none) -> frozenset[str]:
    """The secrets that `learn` records, in all forms in which they may be written."""
    return frozenset(
        form
        for name, value in values.items()
        if isinstance(value, (str, int, float)) and not isinstance(value, bool)
        for part in _parts(name, str(value), harmless)
        if len(part) >= _SHORTEST and not is_common(part)
        for form in _forms(part)
    )


def learn_environment() -> None:
    """Records the values of dbt's secret variables."""
    learn({name: value for name, value in os.environ.items() if name.startswith(ENV_SECRET)})


def _parts(name: str, value: str, harmless: Callable[[str], bool]) -> Iterator[str]:
    """The secrets in a value: all of it, and values that are assigned in it, as in a login of Java."""
    if is_secret(name) or not (harmless(name) or value.isdigit()):
        yield value.strip()
        for item in _ITEM.finditer(value):
            if not is_harmless(item[1]):
                yield item[2] or item[3] or item[4] or ""
        if _LOGIN.search(name):
            yield value.partition(":")[2]
        if "\n" in value:  # each line of a key, which is shown on a line of its own
            yield from (line.strip() for line in value.splitlines() if len(line.strip()) >= _WHOLE and "=" not in line)
    for start, end in spans(value):
        yield value[start:end]
    for scheme in _SCHEME.finditer(value):
        yield scheme[scheme.lastindex or 0]


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

    These are: values that were learnt; values after names that look secret (`password=...`, `'password' = '...'`);
    logins before a host (`//me:...@host`); HTTP's credentials (`Bearer ...`); private keys; in addresses of Spark
    Connect, all parameters that aren't known to be harmless.

    Args:
        text: the text.
        known: further values, by `forms_of`.
        hidden: the text in place of a secret.
    """
    if known := _known | known:
        text = _known_pattern(known).sub(hidden, text)
    text = _CONNECT.sub(lambda address: _connect(address[0], hidden), text)
    text = _ORACLE.sub(rf"\g<1>{hidden}", text)
    text = _KEY.sub(rf"\g<1>{hidden}\g<2>", text)
    text = _SCHEME.sub(lambda scheme: _without_credentials(scheme, hidden), text)
    pieces, at = [], 0
    for start, end in spans(text):
        pieces += [text[at:start], hidden]
        at = end
    return "".join([*pieces, text[at:]])


def _without_credentials(scheme: re.Match[str], hidden: str) -> str:
    given = scheme[scheme.lastindex or 0]
    if scheme[2] is not None:
        try:
            if b":" not in base64.b64decode(scheme[2], validate=True):
                return scheme[0]
        except binascii.Error:
            return scheme[0]
    return scheme[0].removesuffix(given) + hidden


def _connect(address: str, hidden: str) -> str:
    host, *parameters = address.split(";")
    shown = [host]
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        shown.append(name + equals + (value if name in _CONNECT_PARAMETERS or not value else hidden))
    return ";".join(shown)
