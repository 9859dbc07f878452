"""Places of unknown secrets in a text: after names that look secret, and before a host in an address.

Data can fill the text, so it is read once: no expression here goes back further than a bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dbt.adapters.sparkstream.secrecy.names import is_secret

HIDDEN = "*****"
"""Text in place of a secret, as in dbt's own output."""

_NAME = re.compile(r"[\w.$-]+")
_MARK = r"(?:\\{0,7}[\"'`]|&(?:quot|apos|#3[49]);|%2[27])"
_BEFORE_MARK = r"(?=\\{0,7}[\"'])"
_ASSIGNS = re.compile(
    rf"{_MARK}?\]?\s{{0,20}}(?:=>|->|<-|=|:(?!:)|%(?:25)?3[AaDd]|\\{{1,7}}u003[AaDd])\s{{0,20}}"
    rf"|{_MARK}\s{{0,20}}(?:,\s{{0,20}}(?:{_MARK}?[Vv]alue{_MARK}?\s{{0,5}}[=:]\s{{0,5}})?|value\s{{0,5}}=\s{{0,5}}){_BEFORE_MARK}"
    rf"|{_MARK}?(?:\s{{1,20}}is)?\s{{1,20}}{_BEFORE_MARK}"
    rf"|\s{{1,5}}[Ff][Oo][Rr]\s{{1,5}}[^=\s]{{1,200}}\s{{0,5}}=\s{{0,5}}{_BEFORE_MARK}"
    rf"|\(\s{{0,5}}{_BEFORE_MARK}"
)
"""Text between a name and its value: `password=x`, `"password": "x"`, `('password', 'x')`, `password('x')`."""
_TAG = re.compile(r"(?:(?:\s[^<>]{0,200})?>|</name>\s{0,20}<value>)\s{0,20}(?=[^<]{1,10000}</)")
"""Text between a name and its value in XML: `<password>x`, `<name>password</name><value>x`."""
_PAIR = re.compile(r",|\s{0,20}(?:\t|\s\s)\s{0,20}| (?=\S{1,1000}(?:\n|\Z))")
"""Text between a setting of Spark's and its value in a pair of Scala's, or in a line of `spark-defaults.conf`."""
_TUPLE = re.compile(r",(?=[^\s,()][^,()\n]{0,1000}\))")
"""Text between a name and its value in any pair of Scala's: `(password,x)`."""
_BLANKS = re.compile(r"\s{1,20}(?=[^\s-])")
"""Text between a name and its value on a command line: `--password x`."""
_WORDS = {
    "identified": re.compile(
        r"(?i:\s{1,5}(?:with\s{1,5}\w{1,60}\s{1,5})?(?:by|as)\s{1,5}(?:password\s{1,5})?)(?=[\"'])|\s{1,5}BY\s{1,5}"
    ),
    "-p": re.compile(r"\s{1,5}(?![\s./~-]|\d{1,5}\b)"),
    **dict.fromkeys(("-u", "--user"), re.compile(r"[\s=]{1,5}[^\s:]{1,200}:(?!//)")),
}
"""Names that don't look secret -> the text between them and a secret: `IDENTIFIED BY x`, `-p x`, `-u me:x`."""
_QUOTE = re.compile(r"(\\{0,7})([\"'])")
_WORD = re.compile(r"\w")
_ENDS = re.compile(
    r"\n|, |,(?=\w{1,200}=)| -(?=[A-Z-])|[&;](?=[\w.-]{1,200}=|\s|$)|[})\]](?=[\s,;)}\]]|$)|[\"'](?=[\s,;)}\]]|$)"
)
"""End of a value without quotes: the end of its line, or an end or beginning of another value, option or bracket."""
_OTHER_ENDS = (
    (re.compile(r"[\[(]"), re.compile(r"[\])](?=[\s,;)}\]]|$)|\n")),
    (re.compile(r"(?i:digest\s)"), re.compile(r"\n")),
    (re.compile(r"\{(?:[^{}\n\"']|\}\}){1,1000}\}(?=[\s;,\"']|\Z)"), re.compile(r"(?<!\})(?:\}\})*\}(?!\})")),
    (re.compile(r"[|>][-+\d]{0,2}[ \t]{0,20}\n[ \t]"), re.compile(r"\n(?![ \t])")),
)
"""Beginning and end of other values without quotes: lists, HTTP's Digest, ODBC's `{x}`, blocks of YAML."""
_TAG_ENDS = re.compile(r"<")
_URL = re.compile(r"://(?=[^\s@\"'<>]{0,300}@)")
_AUTHORITY = re.compile(r"[^\s\"'<>]{1,1000}")
CONTAINERS = ("abfs", "abfss", "wasb", "wasbs")
"""Azure's addresses, which have a container before the @."""


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Places of values whose names look secret, and of passwords before a host, in their order."""
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
        assigns = _assigns(text, name) if at == name.end() else None
        if assigns is None:
            continue
        start, end = _value(text, assigns.end(), _TAG_ENDS if assigns.re is _TAG else None)
        if end > start and not text.startswith(HIDDEN, start):
            yield start, end
        at = max(end, at)


def _assigns(text: str, name: re.Match[str]) -> re.Match[str] | None:
    """Match of the text between a name and its secret; None if the name has none."""
    start, at = name.span()
    before = text[start - 1 : start]
    if not is_secret(name[0]):
        word = _WORDS.get(name[0].lower())
        return word.match(text, at) if word else None
    if before in ("<", ">") and (tag := _TAG.match(text, at)):
        return tag
    assigns = _ASSIGNS.match(text, at)
    if assigns is not None:
        # unexpected token 'x'; pass 'x'
        of_syntax = re.search("token|^[^-]*pass$", name[0], re.IGNORECASE) and not re.search("[=:,]", assigns[0])
        return None if of_syntax or (": " in assigns[0] and _ends_path(text, start)) else assigns
    if name[0].startswith("spark."):
        return _PAIR.match(text, at)
    return _BLANKS.match(text, at) if name[0].startswith("-") else _TUPLE.match(text, at) if before == "(" else None


def _ends_path(text: str, at: int) -> bool:
    """True if a name is the last of a path: `can't read /etc/shop/secrets.conf: Permission denied`."""
    if not text.startswith("/", at - 1 if at else 0):
        return False
    return text[max(0, at - 300) : at].split()[-1].lstrip("'\"(=").startswith(("/", "./", "../", "~"))


def _value(text: str, at: int, closes: re.Pattern[str] | None) -> tuple[int, int]:
    """Start and end of the value that is written at a place, without its quotes.

    Args:
        text: the text.
        at: the place.
        closes: the pattern of its end, if known.
    """
    opened = _QUOTE.match(text, at)
    if opened is None or closes:
        closes = closes or next((ends for begins, ends in _OTHER_ENDS if begins.match(text, at)), _ENDS)
        close = closes.search(text, at)
        return at, close.start() if close else len(text)
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
