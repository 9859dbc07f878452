"""Keeps secrets out of what people and files get to see: profiles, errors, logs and the process list."""

from __future__ import annotations

import re

HIDDEN = "*****"
"""What stands for a secret, as in dbt's own output."""

_WORDS = (
    r"secret|passw(?:or)?d|passphrase|pwd|token|authorization|signature"
    r"|(?:access|account|api|private|shared)[._-]?key|(?<![a-z])sas(?![a-z])"
)
_SECRET = re.compile(_WORDS, re.IGNORECASE)
_SETTING = re.compile(
    rf"((?:-D|\b(?:spark|hive|hadoop|javax|fs|datanucleus|kafka)\.)[\w.-]*?(?:{_WORDS})[\w.-]*[\"']?\s*[=:]\s*[\"']?)"
    r"[^\s\"',;}]+",
    re.IGNORECASE,
)
_JAAS = re.compile(rf"(LoginModule\s[^;\n]*?\b(?:{_WORDS})\s*=\s*)(\\?[\"'])[^\"'\\]*\2", re.IGNORECASE)
"""As Java's logins have them: `ScramLoginModule required username="me" password="...";`."""
_PARAMETER = re.compile(rf"([?;&][\w.-]*?(?:{_WORDS})[\w.-]*=)[^\s;&\"']+", re.IGNORECASE)
_LOGIN = re.compile(r"(\w://[^\s/:@]*:)[^\s/@]+(?=@)")
_CONNECT = re.compile(r"\bsc://[^\s\"']+")
_CONNECT_PARAMETERS = ("use_ssl", "user_id", "user_agent", "session_id", "grpc_max_message_size", "x-connect-host")
"""Parameters of an address of Spark Connect that say nothing secret; all others are sent as headers."""


def is_secret(name: str) -> bool:
    """Whether a setting of this name holds a secret, such as `spark.hadoop.fs.s3a.secret.key`."""
    return _SECRET.search(name) is not None


def redacted(text: str) -> str:
    """A text with `*****` for the secrets in it.

    These are: values of settings and of parameters in addresses whose names say so (`;password=...`), passwords before
    a host (`//me:...@host`) and in logins of Java (`LoginModule required password="..."`), and in addresses of Spark
    Connect all parameters that aren't known to be harmless.
    """
    text = _CONNECT.sub(lambda address: _connect(address[0]), text)
    text = _SETTING.sub(rf"\g<1>{HIDDEN}", text)
    text = _JAAS.sub(rf"\g<1>\g<2>{HIDDEN}\g<2>", text)
    text = _PARAMETER.sub(rf"\g<1>{HIDDEN}", text)
    return _LOGIN.sub(rf"\g<1>{HIDDEN}", text)


def _connect(address: str) -> str:
    host, *parameters = address.split(";")
    shown = [host]
    for parameter in parameters:
        name, equals, value = parameter.partition("=")
        shown.append(name + equals + (value if name in _CONNECT_PARAMETERS or not value else HIDDEN))
    return ";".join(shown)
