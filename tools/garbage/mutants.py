"""Mutants: a statement whose pieces are dropped, doubled, swapped, spliced, nested and spelt oddly.

A mutant follows from its seed and number alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tools.garbage.corpus import corpus

DIALECTS = ("spark", "flink", "openmldb", "sqlstream")
DOORS: tuple[str, ...] = (
    "translate",
    "translate",
    "translate",
    "translate",
    "translate",
    "stream",
    "stream",
    "explain",
    "tables",
)
DOORS += ("find", "plan", "request")
"""What a mutant is given to, as often as it stands here; see `trial`."""

_PIECE = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`|\w+(?:\.\d+)?|=>|<<|>>|<=|>=|<>|\|\||\s+|.", re.S
)

_VOCABULARY = """
SELECT FROM WHERE GROUP_BY HAVING ORDER_BY WINDOW OVER PARTITION_BY UNION UNION_ALL EXCEPT INTERSECT JOIN LEFT
LAST_JOIN ON USING AS WITH TABLE LATERAL VALUES TUMBLE HOP CUMULATE SESSION DESCRIPTOR INTERVAL DAY HOUR MINUTE
SECOND TO MONTH ROWS RANGE ROWS_RANGE BETWEEN AND UNBOUNDED PRECEDING FOLLOWING CURRENT_ROW OPEN MAXSIZE EXCLUDE
CURRENT_TIME INSTANCE_NOT_IN_WINDOW CASE WHEN THEN ELSE END CAST NULL NOT IN EXISTS LIKE IS DISTINCT ALL STREAM STEP
FLOOR CEIL BY FILTER IGNORE_NULLS ARRAY MAP ROW STRUCT LIMIT OFFSET QUALIFY PIVOT UNPIVOT TABLESAMPLE INSERT INTO
CREATE VIEW MERGE UPDATE DELETE SET DEPLOY EXPLAIN EXTRACT TRIM POSITION SUBSTRING OVERLAY TUMBLE_START HOP_END
SESSION_ROWTIME MATCH_RECOGNIZE FOR SYSTEM_TIME GROUPING_SETS ROLLUP CUBE top sum_cate max_where lag FIRST_VALUE
LAST_VALUE count sum max_duration close_on gap size DATA TIMECOL DATE TIME TIMESTAMP DECIMAL TIMESTAMPDIFF
TIMESTAMPADD REF SOURCE
"""
_WORDS = tuple(_VOCABULARY.split())
_ODD = (
    *"()[]{}<>,;.:?@#$%&*+-/\\=!~^|'\"`",
    *("\0", "\ud800", "\udfff", "\ufeff", "\u00a0", "\u2028", "\u3000", "é", "名", "\U0001f600", "\x1b", "\r", "\r\n"),
    *("\n", "\t", "\v", "\f", "\x85", "--", "/*", "*/", "/*+", "<<", ">>", ">>>", "=>", "->", "::", "||", "{{", "}}"),
    *("''", "'''", "``", '""', "${x}", "@x", ":x", "?", "0x", "1e", ".", "..", "...", "İ", "ß", "ﬁ", "٣", "²", "½"),
)
_NUMBERS: tuple[str, ...] = (
    "0",
    "-1",
    "1e400",
    "1e-400",
    "99999999999999999999",
    "0.5",
    ".5",
    "5.",
    "1e9999999999",
    "NaN",
    "1_000",
)
_NUMBERS += ("007", "1L", "2Y", "3s", "4d", "0b1", "٣", "9" * 5000, "0." + "1" * 3000, "-0", "1e5", "Infinity")
_TEXTS: tuple[str, ...] = (
    "''",
    "'1'",
    "'1e9999999999'",
    "'-1'",
    "'10 minutes'",
    "'1 month'",
    "'NaN'",
    "'1:30'",
    "'1 02:03:04.5'",
)
_TEXTS += ("'\\'", "'a''b'", "'\0'", "'" + "9" * 5000 + "'", "'0.0000001'", "' 1'", "'+1'", "'1-2'", "'a" * 3, "'٣'")
_EXPRESSIONS = (
    *(
        "x",
        "k",
        "ts",
        "t.x",
        "a.b.c",
        "`my x`",
        "*",
        "t.*",
        "NULL",
        "TRUE",
        "1",
        "-1",
        "1.5",
        "'a'",
        "DATE '2020-01-01'",
    ),
    *("TIMESTAMP '2020-01-01 00:00:00'", "INTERVAL '1' DAY", "INTERVAL 1 2 hours", "INTERVAL '1-2' YEAR TO MONTH"),
    *(
        "ARRAY[1].x",
        "ARRAY[x, 1][1]",
        "ARRAY(1, 2)",
        "MAP['a', 1]",
        "MAP['a', x]['a']",
        "x[1]",
        "x.y[1].z",
        "ROW(1, 'a')",
    ),
    *(
        "CASE WHEN x > 1 THEN 2 END",
        "CASE x WHEN 1 THEN 2 ELSE 3 END",
        "CAST(x AS DECIMAL(10, 2))",
        "TRY_CAST(k AS INT)",
    ),
    *(
        "CAST(x AS ARRAY<INT>)",
        "CAST(x AS ROW<a INT, b STRING>)",
        "CAST(ts AS TIMESTAMP(3))",
        "CAST(x AS INTERVAL DAY)",
    ),
    *("EXTRACT(DAY FROM ts)", "FLOOR(ts TO HOUR)", "CEIL(ts TO MONTH)", "FLOOR(x)", "TRIM(BOTH 'x' FROM k)", "x::int"),
    *("POSITION('a' IN k)", "SUBSTRING(k FROM 1 FOR 2)", "OVERLAY(k PLACING 'a' FROM 1)", "x || k", "x -> x + 1"),
    *("TIMESTAMPADD(DAY, 1, ts)", "TIMESTAMPDIFF(HOUR, ts, ts)", "STEP(ts BY INTERVAL '1' HOUR)", "STEP(x BY 10)"),
    *("count(*)", "count(DISTINCT x)", "sum(x) FILTER (WHERE x > 1)", "sum(x) OVER w", "max(x) OVER (ORDER BY ts)"),
    *("sum(x) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)", "lag(x, 1) OVER w"),
    *("sum(sum(x) OVER w) OVER w", "top(x, 3)", "id(,) OVER w", "f()", "f(x, f(x))", "f(a => 1)", "(SELECT 1)"),
    *("(SELECT max(x) FROM u WHERE u.k = t.k)", "x IN (SELECT x FROM u)", "x IN (1, 2)", "EXISTS (SELECT 1)", "NOT x"),
    *(
        "x BETWEEN 1 AND 2",
        "x IS NOT DISTINCT FROM k",
        "k LIKE 'a%' ESCAPE '!'",
        "k SIMILAR TO 'a'",
        "x IS NULL",
        "(x)",
    ),
    *(
        "(x, k)",
        "x AND k OR NOT x",
        "x + 1 * 2 / 3 % 4",
        "x = 1",
        "x <> 1",
        "-(x)",
        "@x",
        ":x",
        "${x}",
        "{{ x }}",
        "x AS y",
    ),
    *("TUMBLE(ts, INTERVAL '1' HOUR)", "TUMBLE_START(ts, INTERVAL '1' HOUR)", "HOP_END(ts, INTERVAL '1' HOUR, x)"),
    *(
        "SESSION(ts, INTERVAL '1' HOUR)",
        "window_start",
        "window_end",
        "window_time",
        "ROWTIME",
        "PROCTIME()",
        "CURRENT_ROW",
    ),
    *(
        "FIRST_VALUE(x)",
        "LAST_VALUE(t.x)",
        "GROUPING(k)",
        "x IGNORE NULLS",
        "interval",
        "LAST",
        "window",
        "stream",
        "U&'a'",
    ),
    *(
        "LAST_VALUE(x) IGNORE NULLS OVER w",
        "JSON_VALUE(k, '$.a' RETURNING INT)",
        "LISTAGG(k, ',') WITHIN GROUP (ORDER BY x)",
    ),
)


@dataclass(frozen=True)
class Mutant:
    """A text, and how it is read.

    Attributes:
        door: which function reads it; one of `DOORS`.
        known: True if the function knows the tables' columns.
    """

    sql: str
    dialect: str
    door: str
    optimize: bool
    known: bool
    arrival: str | None
    schema: dict[str, dict[str, str]]


def mutant(seed: int, number: int) -> Mutant:
    """The mutant of a number."""
    random = Random(f"{seed}:{number}")
    sample = random.choice(corpus())
    sql = sample.sql
    pieces = _PIECE.findall(sql)
    # Most faults are small: one or two, and at times a heap.
    for _ in range(random.choice((1, 1, 1, 1, 1, 2, 2, 3, 5, 12))):
        pieces = [piece for piece in random.choice(_MUTATIONS)(random, pieces) if piece] or [" "]
    return Mutant(
        "".join(pieces),
        sample.dialect if random.random() < 0.7 else random.choice(DIALECTS),
        random.choice(DOORS),
        random.random() < 0.7,
        random.random() < 0.6,
        random.choice((*(None,) * 10, *("seq",) * 8, "a b", "x) --", "`a b`")),
        sample.schema or _schema_of(random),
    )


def _schema_of(random: Random) -> dict[str, dict[str, str]]:
    return random.choice([s for s in corpus() if s.schema]).schema


def _at(random: Random, pieces: list[str]) -> int:
    return random.randrange(len(pieces))


def _span(random: Random, pieces: list[str], most: int = 12) -> tuple[int, int]:
    start = _at(random, pieces)
    return start, min(len(pieces), start + random.randint(1, most))


def _drop(random: Random, pieces: list[str]) -> list[str]:
    start, end = _span(random, pieces, 6)
    return pieces[:start] + pieces[end:]


def _double(random: Random, pieces: list[str]) -> list[str]:
    start, end = _span(random, pieces)
    return pieces[:end] + [" "] * random.randint(0, 1) + pieces[start:end] + pieces[end:]


def _swap(random: Random, pieces: list[str]) -> list[str]:
    one, other = _at(random, pieces), _at(random, pieces)
    pieces = pieces.copy()
    pieces[one], pieces[other] = pieces[other], pieces[one]
    return pieces


def _splice(random: Random, pieces: list[str]) -> list[str]:
    """A stretch of another statement, in the place of a stretch or between two pieces."""
    other = _PIECE.findall(random.choice(corpus()).sql)
    first, last = _span(random, other, 40)
    start, end = _span(random, pieces)
    return [*pieces[:start], " ", *other[first:last], " ", *pieces[random.choice((start, end)) :]]


def _cut(random: Random, pieces: list[str]) -> list[str]:
    at = _at(random, pieces)
    return random.choice((pieces[:at], pieces[at:]))


def _insert(random: Random, pieces: list[str]) -> list[str]:
    at = _at(random, pieces)
    word = random.choice(_WORDS).replace("_", " ") if random.random() < 0.3 else random.choice(_WORDS)
    return [*pieces[:at], " ", random.choice((word, word, "(" + word, word + "(", word + "()")), " ", *pieces[at:]]


def _odd(random: Random, pieces: list[str]) -> list[str]:
    at = _at(random, pieces)
    return [*pieces[:at], random.choice(_ODD) * random.choice((1, 1, 1, 2, 50)), *pieces[at:]]


def _replace(random: Random, pieces: list[str]) -> list[str]:
    """A number, a text or a name in the place of one."""
    at = _at(random, pieces)
    for i in (*range(at, len(pieces)), *range(at)):
        piece = pieces[i]
        new = None
        if piece[0].isdigit() or piece.startswith("'"):
            new = random.choice(_TEXTS if random.random() < 0.5 else _NUMBERS)
        elif piece.isidentifier() and random.random() < 0.5:
            new = random.choice((random.choice(_WORDS), f"`{piece}`", f'"{piece}"', f"'{piece}'", "*", f"{piece}.x"))
        if new is not None:
            return [*pieces[:i], new, *pieces[i + 1 :]]
    return pieces


def _nest(random: Random, pieces: list[str]) -> list[str]:
    """Parentheses, calls, CASE or subqueries around a stretch, a few or very many."""
    start, end = _span(random, pieces, 8)
    times = random.choice((1, 2, 3, 10, 60, 400))
    opening, closing = random.choice(
        (
            ("(", ")"),
            ("(", ")"),
            ("f(", ")"),
            ("NOT ", ""),
            ("- ", ""),
            ("CASE WHEN TRUE THEN ", " END"),
            ("(SELECT ", ")"),
            ("(SELECT * FROM ", ")"),
            ("CAST(", " AS INT)"),
            ("x + (", ")"),
            ("[", "]"),
            ("ARRAY[", "]"),
            ("/*", "*/"),
            ("a.", ""),
            ("", ".b"),
            ("", "[0]"),
            ("(", ""),
            ("TUMBLE(TABLE ", ", DESCRIPTOR(ts), INTERVAL '1' DAY)"),
        )
    )
    if random.random() < 0.1:
        closing = ""
    return [*pieces[:start], opening * times, *pieces[start:end], closing * times, *pieces[end:]]


_LONGEST = 200_000
"""Characters of a stretch that is repeated: a text of megabytes takes seconds to cut into tokens."""


def _lengthen(random: Random, pieces: list[str]) -> list[str]:
    """A stretch very often, with something between."""
    start, end = _span(random, pieces, 6)
    between = random.choice((", ", ", ", " AND ", " OR ", " + ", " UNION ALL ", "; ", " ", " JOIN ", "."))
    most = 1 + _LONGEST // (1 + sum(map(len, pieces[start:end])))
    times = min(random.choice((5, 20, 100, 300)), most)
    return [*pieces[:start], *([*pieces[start:end], between] * times), *pieces[start:]]


def _graft(random: Random, pieces: list[str]) -> list[str]:
    """An expression in the place of a name, a number or a text."""
    at = _at(random, pieces)
    for i in (*range(at, len(pieces)), *range(at)):
        if re.match(r"\w|['`\"]", pieces[i]) and pieces[i].upper() not in _WORDS:
            return [*pieces[:i], random.choice(_EXPRESSIONS), *pieces[i + 1 :]]
    return pieces


def _transplant(random: Random, pieces: list[str]) -> list[str]:
    """What stands in parentheses in another statement, in the place of what does in this one."""
    mine, others = _groups(pieces), _PIECE.findall(random.choice(corpus()).sql)
    theirs = _groups(others)
    if not mine or not theirs:
        return pieces
    (start, end), (first, last) = random.choice(mine), random.choice(theirs)
    return pieces[: start + 1] + others[first + 1 : last] + pieces[end:]


def _groups(pieces: list[str]) -> list[tuple[int, int]]:
    """Where parentheses open and close."""
    opened, found = [], []
    for i, piece in enumerate(pieces):
        if piece == "(":
            opened.append(i)
        elif piece == ")" and opened:
            found.append((opened.pop(), i))
    return found


def _case(random: Random, pieces: list[str]) -> list[str]:
    change: Callable[[str], str] = random.choice((str.upper, str.lower, str.swapcase, str.title))
    return [change(piece) for piece in pieces]


def _blanks(random: Random, pieces: list[str]) -> list[str]:
    """Other white space or comments between pieces."""
    blank = random.choice(("", "\n", "\t", "  ", "/**/", "-- x\n", "\r\n", "\u00a0", "/* ' */", "/*+ x */"))
    return [blank if piece.isspace() and random.random() < 0.5 else piece for piece in pieces]


_MUTATIONS: tuple[Callable[[Random, list[str]], list[str]], ...] = (
    *(_drop, _drop, _drop, _double, _swap, _swap, _splice, _splice, _splice, _cut, _insert, _insert, _odd, _odd),
    *(_replace, _replace, _replace, _nest, _lengthen, _case, _blanks),
    *(_graft,) * 8,
    *(_transplant,) * 4,
)
