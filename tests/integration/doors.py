"""Flink SQL as a dbt model, through each of the doors that an analyst has.

window_sql   the statement between `{% call window_sql(dialect='flink') %}` and `{% endcall %}`
config       the statement under `{{ config(meta={'sql_dialect': 'flink'}) }}`
sql          the statement as the model's text, which is Spark SQL with our windows
island       Spark SQL; each window function stands between `<<` and `>>`
macro        Spark SQL; each window function is a macro
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

DOORS = ("window_sql", "config", "sql", "island", "macro")

_TOKEN = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|`(?:[^`]|``)*`|\w+|=>|\s+|.", re.S)
_FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
_INTERVAL = re.compile(r"INTERVAL\s+'(-?\d+)'\s+(SECOND|MINUTE|HOUR|DAY)S?", re.I)


@dataclass(frozen=True)
class WindowFunction:
    """A window function in FROM, in pieces as the statement has them.

    Attributes:
        name: TUMBLE, HOP, ...
        table: the table's name, or a query in parentheses.
        keys: the columns of PARTITION BY.
        timecol: the time column.
        intervals: such as `INTERVAL '10' MINUTES`; by name where the statement names them.
    """

    name: str
    table: str
    keys: tuple[str, ...]
    timecol: str
    intervals: tuple[tuple[str | None, str], ...]


def refer(sql: str, models: Mapping[str, str]) -> str:
    """A statement whose tables are `{{ ref('...') }}`.

    Args:
        models: table, as the statement names it -> the dbt model.
    """
    before = ""
    pieces = []
    for token in _TOKEN.findall(sql):
        name = token.strip("`")
        if before in ("TABLE", "FROM", "JOIN") and name in models:
            pieces.append("{{ ref('" + models[name] + "') }}")
        else:
            pieces.append(token)
        before = token.upper() if _is_code(token) else before
    return "".join(pieces)


def _is_code(token: str) -> bool:
    return not token.isspace() and not token.startswith(("--", "/*"))


def through(door: str, sql: str, models: Mapping[str, str]) -> str:
    """A dbt model's text that gives what a statement of Flink gives.

    `island` and `macro` are for statements whose text outside the windows means the same in Spark.
    """
    if door == "window_sql":
        return "{% call window_sql(dialect='flink') %}\n" + refer(sql, models) + "\n{% endcall %}\n"
    if door == "config":
        return "{{ config(meta={'sql_dialect': 'flink'}) }}\n" + refer(sql, models) + "\n"
    if door == "sql":
        return refer(sql, models) + "\n"
    if door == "island":
        return islands(sql, models) + "\n"
    if door == "macro":
        return macros(sql, models) + "\n"
    raise ValueError(f"no door {door}")


# -- window functions in a statement ------------------------------------------------------------------
def window_functions(sql: str) -> Iterator[tuple[int, int, WindowFunction]]:
    """The outermost window functions in FROM: where they begin and end, TABLE(...) around them included."""
    tokens = [(m.start(), m[0]) for m in _TOKEN.finditer(sql) if _is_code(m[0])]
    at = 0
    while at < len(tokens) - 2:
        is_call = tokens[at][1].upper() in _FUNCTIONS and tokens[at + 1][1] == "("
        if not is_call or not (tokens[at + 2][1] == "(" or tokens[at + 2][1].upper() in ("TABLE", "DATA")):
            at += 1
            continue
        close = _closing(tokens, at + 1)
        first, last = at, close
        if at >= 2 and [tokens[at - 2][1].upper(), tokens[at - 1][1]] == ["TABLE", "("]:
            first, last = at - 2, close + 1
        arguments = _split(sql, tokens[at + 2 : close], tokens[close][0])
        yield tokens[first][0], tokens[last][0] + 1, _window_function(tokens[at][1].upper(), arguments)
        at = last + 1


def _closing(tokens: list[tuple[int, str]], opening: int) -> int:
    depth = 0
    for at in range(opening, len(tokens)):
        depth += {"(": 1, ")": -1}.get(tokens[at][1], 0)
        if depth == 0:
            return at
    raise ValueError("a parenthesis is not closed")


def _split(sql: str, tokens: list[tuple[int, str]], end: int) -> list[str]:
    """Arguments at the commas outside parentheses."""
    starts, ends, depth = [tokens[0][0]], [], 0
    for start, token in tokens:
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and depth == 0:
            ends.append(start)
            starts.append(start + 1)
    return [sql[a:b].strip() for a, b in zip(starts, [*ends, end], strict=True)]


def _window_function(name: str, arguments: list[str]) -> WindowFunction:
    named: list[tuple[str | None, str]] = []
    for argument in arguments:
        parts = re.fullmatch(r"`?(\w+)`?\s*=>\s*(.*)", argument, re.S)
        named.append((parts[1].lower(), parts[2]) if parts else (None, argument))
    table, _, keys = re.sub(r"^TABLE\s+", "", named[0][1], flags=re.I).partition(" PARTITION BY ")
    timecol = re.fullmatch(r"DESCRIPTOR\s*\(\s*(.+?)\s*\)", named[1][1], re.I)
    if timecol is None:
        raise ValueError(f"no time column: {named[1][1]}")
    return WindowFunction(
        name,
        table.strip(),
        tuple(key.strip() for key in keys.strip("( )").split(",") if key.strip()),
        timecol[1],
        tuple(named[2:]),
    )


# -- doors --------------------------------------------------------------------------------------------
def islands(sql: str, models: Mapping[str, str], *, short: bool = False) -> str:
    """A statement with `<<` and `>>` around each window function.

    Args:
        short: `<< tumble({{ ref('bid') }}, bidtime, '10 minutes') >>` instead of Flink's spelling.
    """
    pieces, done = [], 0
    for start, end, call in window_functions(sql):
        text = re.sub(r"^TABLE\s*\(\s*(.*)\)$", r"\1", sql[start:end], flags=re.S | re.I).strip()
        if short:
            keys = f" partition by ({', '.join(call.keys)})" if call.keys else ""
            table = refer("TABLE " + call.table, models).removeprefix("TABLE ")
            rest = [call.timecol, *(f"'{_words(value)}'" for _, value in call.intervals)]
            text = f"{call.name.lower()}({table}{keys}, {', '.join(rest)})"
        pieces += [sql[done:start], "<< ", text, " >>"]
        done = end
    return refer("".join([*pieces, sql[done:]]), models)


def macros(sql: str, models: Mapping[str, str]) -> str:
    """A statement with a macro for each window function; a query inside one becomes a block of Jinja before it."""
    blocks: list[str] = []
    text = _with_macros(sql, models, blocks)
    return "".join(blocks) + text


def _with_macros(sql: str, models: Mapping[str, str], blocks: list[str]) -> str:
    pieces, done = [], 0
    for start, end, call in window_functions(sql):
        if call.table.startswith("("):
            query = _with_macros(call.table, models, blocks)
            relation = f"rows_{len(blocks) + 1}"
            blocks.append("{%- set " + relation + " %}" + query + "{% endset -%}\n")
        elif call.table.strip("`") in models:
            relation = f"ref('{models[call.table.strip('`')]}')"
        else:
            relation = _jinja(call.table)
        arguments = [relation, _jinja(call.timecol)]
        arguments += [(f"{name}=" if name else "") + _jinja(_words(value)) for name, value in call.intervals]
        if call.keys:
            keys = [_jinja(key) for key in call.keys]
            arguments.append("partition_by=" + (keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"))
        pieces += [refer(sql[done:start], models), "{{ " + call.name.lower() + f"({', '.join(arguments)})" + " }}"]
        done = end
    return "".join([*pieces, refer(sql[done:], models)])


def _words(interval: str) -> str:
    """`INTERVAL '10' MINUTES` -> `10 minutes`, which both doors take; what has no such form stays as it is."""
    simple = _INTERVAL.fullmatch(interval)
    if simple is None:
        return interval
    return f"{simple[1]} {simple[2].lower()}{'' if simple[1] == '1' else 's'}"


def _jinja(text: str) -> str:
    return f'"{text}"' if "'" in text else f"'{text}'"
