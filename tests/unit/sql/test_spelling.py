"""OpenMLDB's and SQLstream's own spelling beside windows: functions, operators, casts, a comma before FROM, pumps."""

# ruff: noqa: E501

from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql import TranslationError, translate
from tests.unit.sql.pairs import Pairs, flat

COLUMNS = {
    "b": "boolean",
    "i": "int",
    "n": "bigint",
    "f": "float",
    "x": "double",
    "s": "string",
    "d": "date",
    "ts": "timestamp",
}
SCHEMA = {"t": COLUMNS, "u": COLUMNS}
W = "WINDOW w AS (PARTITION BY s ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"

SIX = "regexp_replace(nullif(format_string('%g', CAST({} AS DOUBLE)), 'null'), '([.][0-9]*[1-9])0+(?=e|$)|[.]0+(?=e|$)', '$1')"
"""The text of a number in at most six digits."""
WHOLE = "get(transform(array({}), v -> IF(abs(v) < 4503599627370496D, CAST({}(v) AS DOUBLE), CAST(v AS DOUBLE))), 0)"
"""A whole number as a DOUBLE."""

EXPRESSIONS = {
    # functions under another name, or with other arguments
    "inc(i)": "(i + 1)",
    "inc(inc(i))": "((i + 1) + 1)",
    "truncate(x)": WHOLE.format("x", "bigint"),
    "truncate(i)": "(i)",
    "ceil(x)": WHOLE.format("x", "ceil"),
    "ceiling(f)": WHOLE.format("f", "ceil"),
    "floor(n)": "floor(n)",
    "abs(f)": "abs(CAST(f AS DOUBLE))",
    "abs(n)": "abs(n)",
    "sqrt(f)": "CAST(sqrt(f) AS FLOAT)",
    "pow(f, f)": "CAST(pow(f, f) AS FLOAT)",
    "pow(f, x)": "pow(f, x)",
    "ln(x)": "get(transform(array(x), v -> CASE WHEN v > 0 THEN ln(v) WHEN v = 0 THEN double('-Infinity') WHEN v < 0 THEN double('NaN') END), 0)",
    "log(2, x)": "log(2, x)",
    "hex(i)": "hex(CAST(i AS BIGINT) & 4294967295L)",
    "hex(x)": "hex(CAST(round(x) AS BIGINT))",
    "hex(s)": "hex(s)",
    "unhex(s)": "CAST(unhex(s) AS STRING)",
    "atan(x)": "atan(x)",
    "atan(x, f)": "atan2(x, f)",
    "week(ts)": "weekofyear(ts)",
    "lcase(ucase(s))": "lower(upper(s))",
    "if_null(s, 'a')": "ifnull(s, 'a')",
    "ifnull(i, 'a')": "ifnull(CAST(i AS STRING), 'a')",
    "maximum(s, ts)": "get(transform(array(named_struct('a', s, 'b', date_format(ts, 'yyyy-MM-dd HH:mm:ss'))), "
    "v -> IF(v.a > v.b, v.a, v.b)), 0)",
    "nvl(ts, 0)": "nvl(ts, timestamp_millis(0))",
    "CASE WHEN b THEN b ELSE i END": "CASE WHEN b THEN CAST(b AS INT) ELSE i END",
    "identity(i)": "(i)",
    "make_tuple(s, i)": "struct(s, i)",
    "like_match(s, 'a%')": "(s LIKE 'a%')",
    "ilike_match(s, 'a!%', '!')": "(s ILIKE 'a!%' ESCAPE '!')",
    "regexp_like(s, 'a.*')": r"regexp_like(s, concat('\\A(?:', 'a.*', ')\\z'))",
    "regexp_like(s, 'A.*', 'ic')": r"regexp_like(s, concat('\\A(?i:', 'A.*', ')\\z'))",
    "s NOT RLIKE 'a.*'": r"s NOT RLIKE concat('\\A(?:', 'a.*', ')\\z')",
    "add(i, n)": "((i) + (n))",
    "add(b, 2)": "((CAST(b AS INT)) + (2))",
    "add(ts, i)": "timestamp_millis(unix_millis(ts) + (i))",
    "abs(b)": "abs(CAST(b AS DOUBLE))",
    "ceil(b)": "CAST(b AS DOUBLE)",
    "pmod(i, b)": "pmod(i, CAST(b AS INT))",
    "substr(s, 2)": "substr(s, 2)",
    "substring(s, 2, i)": "substring(s, 2, i)",
    "concat_ws('-', s, x, i)": f"concat(s, '-', {SIX.format('x')}, '-', i)",
    "concat_ws(s, 'a', i)": "get(transform(array(named_struct('s', s, 'a', 'a', 'b', i)), v -> concat(v.a, v.s, v.b)), 0)",
    "get_json_object(s, '/a~1b/0/c d')": "get_json_object(s, '$[\\'a/b\\'][0][\\'c d\\']')",
    "date(s)": "date(regexp_replace(s, '^([0-9]{4})([0-9]{2})([0-9]{2})$', '$1-$2-$3'))",
    "date('2020-01-01')": "date('2020-01-01')",
    "timestamp('2020-01-01')": "timestamp('2020-01-01')",
    "CAST('20200101' AS TIMESTAMP)": "timestamp(regexp_replace('20200101', '^([0-9]{4})([0-9]{2})([0-9]{2})$', '$1-$2-$3'))",
    "datediff(d, s)": "datediff(d, regexp_replace(s, '^([0-9]{4})([0-9]{2})([0-9]{2})$', '$1-$2-$3'))",
    "unix_timestamp('2020-01-01')": "unix_timestamp(timestamp('2020-01-01'))",
    "unix_timestamp(d)": "unix_timestamp(d)",
    "last_day(n)": "last_day(timestamp_millis(n))",
    "int(s)": "try_cast(s AS INT)",
    "int32(s)": "try_cast(s AS INT)",
    "int(x)": "int(x)",
    "int64('0x1F')": "CAST(31 AS BIGINT)",
    "CAST(s AS smallint)": "try_cast(s AS SMALLINT)",
    "CAST(i AS int64)": "CAST(i AS BIGINT)",
    "CAST(i AS bool)": "CAST(i AS BOOLEAN)",
    "double(ts)": "CAST(unix_millis(ts) AS DOUBLE)",
    "strcmp(s, 'b')": "get(transform(array(named_struct('a', s, 'b', 'b')), v -> CASE WHEN v.a < v.b THEN -1 WHEN v.a = v.b THEN 0 WHEN v.a > v.b THEN 1 END), 0)",
    "maximum(i, n)": "get(transform(array(named_struct('a', i, 'b', n)), v -> IF(v.a > v.b, v.a, v.b)), 0)",
    # lists
    "split(s, ',')": "split(s, ',')",
    "split(s, '|')": r"split(s, concat('\\Q', '|', '\\E'))",
    "join(split(s, ','), '-')": "array_join(split(s, ','), '-')",
    "join(list_except_by_key(split(s, ','), 'a'), ',')": "array_join(get(transform(array(named_struct('l', split(s, ','), 'e', 'a')), v -> filter(v.l, p -> NOT array_contains(split(v.e, ','), split_part(p, ':', 1)))), 0), ',')",
    "array_contains([1, 2], i)": "array_contains(array(1, 2), i)",
    "array[1, 2]": "array(1, 2)",
    # times: numbers are milliseconds
    "ts - 1000": "timestamp_millis(unix_millis(ts) - 1000)",
    "n + ts": "timestamp_millis(n + unix_millis(ts))",
    "ts - 1000 - 1": "timestamp_millis(unix_millis(timestamp_millis(unix_millis(ts) - 1000)) - 1)",
    "ts > 1590738990000": "unix_millis(ts) > 1590738990000",
    "ts > d": "ts > d",
    "ts - ts": "timestamp_millis(unix_millis(ts) - unix_millis(ts))",
    "ts / 1000": "unix_millis(ts) / 1000",
    "b = 1": "CAST(b AS INT) = 1",
    "s > 5": "s > CAST(5 AS STRING)",
    "x = s": f"{SIX.format('x')} = s",
    "year(n)": "year(timestamp_millis(n))",
    "hour(ts)": "hour(ts)",
    "bigint(ts)": "unix_millis(ts)",
    "CAST(ts AS bigint)": "unix_millis(ts)",
    "CAST(n AS timestamp)": "timestamp_millis(n)",
    "CAST(i AS double)": "CAST(i AS double)",
    "date_format(ts, '%Y-%m-%d %H:%M:%S')": "date_format(ts, 'yyyy-MM-dd HH:mm:ss')",
    "date_format(d, '%d. %B, week')": "date_format(d, 'dd. MMMM, \\'week\\'')",
    # texts of numbers and times
    "string(x)": SIX.format("x"),
    "CAST(f AS string)": SIX.format("f"),
    "string(ts)": "date_format(ts, 'yyyy-MM-dd HH:mm:ss')",
    "string(i)": "string(i)",
    "s || x": f"s || {SIX.format('x')}",
    "concat(s, x, i)": f"concat(s, {SIX.format('x')}, i)",
    # numbers as conditions, conditions as numbers
    "i AND NOT n": "(i <> 0) AND NOT (n <> 0)",
    "b XOR i": "((b) <> ((i <> 0)))",
    "b + 1": "CAST(b AS INT) + 1",
    "timestamp(x)": "timestamp_millis(CAST(x AS BIGINT))",
    "CAST(b AS TIMESTAMP)": "timestamp_millis(CAST(b AS BIGINT))",
    "i MOD 2": "i % 2",
    "mod(i, 2)": "mod(i, 2)",
    "(i) MOD (n + 1)": "(i) % (n + 1)",
    "mod(i MOD 2, 2) AS mod, t.i AS z, mod": "mod(i % 2, 2) AS mod, t.i AS z, mod",
    "1.5 * i": "1.5D * i",
    # numbers of the types that they have in OpenMLDB
    ".5 + x - .25": ".5D + x - .25D",
    "3L + 1": "3L + 1",
    "i DIV 2": "CAST(i DIV 2 AS INT)",
    "n DIV i": "n DIV i",
    "f * i": "CAST(f * i AS FLOAT)",
    "f / 2": "f / 2",
    "f + 1.5f": "f + 1.5f",
    "f % i + 1": "CAST(CAST(f % i AS FLOAT) + 1 AS FLOAT)",
}


def test_mod_behind_a_dot_is_a_name() -> None:
    assert translate("SELECT t.mod AS z FROM t", "openmldb") == "SELECT t.mod AS z FROM t"


@pytest.mark.parametrize("given", EXPRESSIONS)
def test_expressions(given: str) -> None:
    assert flat(translate(f"SELECT {given} AS y FROM t", "openmldb", schema=SCHEMA)) == flat(
        f"SELECT {EXPRESSIONS[given]} AS y FROM t"
    )


LEFT_TO_SPARK = {
    "s + i": "s + i",
    "i * ts": "i * unix_millis(ts)",
    "d - 1": "d - 1",
    "x DIV 2": "x DIV 2",
    "i LIKE 'a'": "i LIKE 'a'",
    "s NOT ILIKE d": "s NOT ILIKE d",
    "i & x": "i & x",
    "b | i": "CAST(b AS INT) | i",
    "ts + x": "timestamp_millis(unix_millis(ts) + x)",
    "abs(s)": "abs(s)",
    "floor(d)": "floor(d)",
    "CAST(d AS INT)": "CAST(d AS INT)",
    "bigint(d)": "bigint(d)",
    "year(s)": "year(s)",
    "hour(d)": "hour(d)",
    "substr(i, 1)": "substr(i, 1)",
    "upper(ts)": "upper(ts)",
    "CAST(i AS DATE)": "CAST(i AS DATE)",
}
"""Expressions whose types OpenMLDB refuses, and Spark may take -> the same in Spark SQL."""


@pytest.mark.parametrize("given", LEFT_TO_SPARK)
def test_types_are_left_to_spark(given: str) -> None:
    made = translate(f"SELECT {given} AS y FROM t", "openmldb", schema=SCHEMA)
    assert made == f"SELECT {LEFT_TO_SPARK[given]} AS y FROM t"


def test_truncated_times_are_refused() -> None:
    with pytest.raises(TranslationError, match="no number to truncate") as refused:
        translate("SELECT truncate(ts) AS y FROM t", "openmldb", schema=SCHEMA)
    assert refused.value.column == len("SELECT ") + 1
    assert refused.value.hint


NAMES = {
    "inc( i )": "inc(i)",
    "i+1": "i + 1",
    "(i+1)*2L": "i + 1 * 2",
    "ts - 1": "ts - 1",
    "1.5": "1.500000",
    "'a'": "a",
    "NULL": "null",
    "TRUE": "true",
    "-i": "- i",
    "abs( - 1.5 )": "abs(-1.500000)",
    "CASE i WHEN 1 THEN 'a' WHEN 2 THEN 'b c' END": "case (when i = 1 then a,when i = 2 then b c) else null",
    "CASE WHEN i > 0 THEN -1 ELSE i END": "case (when i > 0 then -1) else i",
    "i == 1 AND NOT i <> 2": "i = 1 AND NOT i != 2",
    "i MOD 2": "i % 2",
    "i IS NULL": "IS_NULL i",
    "s NOT LIKE 'a%'": "NOT s LIKE a%",
    "i NOT IN (1, 2)": "i not in (1,2)",
    "i BETWEEN 1 AND 2": "i between 1 and 2",
    "s || 'b'": "concat(s, b)",
    "CAST(i AS bigint)": "int64(i)",
    "int(x)": "int32(x)",
    "CASE WHEN b  THEN 1 END": "case (when b then 1) else null",
    "string(max( t.x ) OVER w)": "string(max(t.x)over w)",
    "sum(i) over w+1": "sum(i)over w + 1",
    "count(*) OVER (PARTITION BY s ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)": "count(*)over ANONYMOUS_WINDOW ",
}


@pytest.mark.parametrize("given", NAMES)
def test_names_of_columns(given: str) -> None:
    made = translate(f"SELECT {given} FROM t {W if 'over' in NAMES[given] else ''}", "openmldb", schema=SCHEMA)
    assert f" AS `{NAMES[given]}` FROM t" in made
    assert (
        translate("SELECT i, t.s, *, (SELECT s FROM u) FROM t", "openmldb")
        == "SELECT i, t.s, *, (SELECT s FROM u) FROM t"
    )


def test_a_part_of_a_text_by_words() -> None:
    made = translate("SELECT SUBSTRING(s FROM -3 FOR i) AS y FROM t", "openmldb")
    assert made == translate("SELECT SUBSTRING(s, -3, i) AS y FROM t", "openmldb")


def test_aggregates_of_groups() -> None:
    made = translate("SELECT count_where(i, b), sum(x) AS y FROM t GROUP BY s", "openmldb", schema=SCHEMA)
    assert made == "SELECT count(CASE WHEN b THEN i END) AS `count_where(i, b)`, sum(x) AS y FROM t GROUP BY s"
    for text, at in (
        ("SELECT lag(i, 1) FROM t", "lag(i, 1)"),
        ("SELECT ew_avg(i, 0.5) FROM t GROUP BY s", "ew_avg(i, 0.5)"),
        ("SELECT top(i) FROM t", "top(i)"),
        ("SELECT ilike_match(s) FROM t", "ilike_match(s)"),
        ("SELECT i FROM t CONFIG (execute_mode = 'request', values = (1))", "CONFIG"),
    ):
        with pytest.raises(TranslationError) as refused:
            translate(text, "openmldb", schema=SCHEMA)
        assert text[refused.value.column - 1 :].startswith(at), refused.value


@pytest.mark.parametrize("mode", ["offline", "ONLINE"])
def test_the_mode_of_execution_is_left_out(mode: str) -> None:
    config = f" CONFIG (execute_mode = '{mode}')"
    assert translate(f"SELECT i FROM t{config}; -- end", "openmldb") == "SELECT i FROM t; -- end"
    query = f"SELECT max(i) OVER w AS y FROM t {W}"
    assert translate(query + config, "openmldb", schema=SCHEMA) == translate(query, "openmldb", schema=SCHEMA)
    config = " AS config, config FROM t"
    assert translate(f"SELECT i{config}", "openmldb") == f"SELECT i{config}"


@pytest.mark.parametrize(
    "given", ["inc(i)", "strcmp(s, 'b')", "join(split(s, ','), '-')", "i MOD 2", "array[1, 2]", "atan(x, f)"]
)
def test_without_types(given: str) -> None:
    assert flat(translate(f"SELECT {given} AS y FROM t", "openmldb")) == flat(
        f"SELECT {EXPRESSIONS[given]} AS y FROM t"
    )


class TestComments:
    def test_hashes(self) -> None:
        sql = "SELECT a, '#x' AS h # it's one\nFROM t -- # b\n/* # c */ WHERE a > 1 #"
        assert translate(f"#\n{sql}", "openmldb") == f"--\n{sql.replace('# it', '-- it')[:-1]}--"


class TestSQLstream(Pairs):
    @pytest.mark.parametrize(
        ("left", "right", "times"),
        [
            (
                "",
                "RANGE INTERVAL '1' HOUR PRECEDING",
                "s.ROWTIME BETWEEN o.ROWTIME - INTERVAL '3600' SECOND AND o.ROWTIME",
            ),
            (
                "RANGE INTERVAL '0.5' SECOND PRECEDING",
                "ROWS CURRENT ROW",
                "s.ROWTIME BETWEEN o.ROWTIME AND o.ROWTIME + INTERVAL '0.500' SECOND",
            ),
            ("RANGE UNBOUNDED PRECEDING", "", "s.ROWTIME >= o.ROWTIME"),
            ("", "ROWS UNBOUNDED PRECEDING", "s.ROWTIME <= o.ROWTIME"),
            ("RANGE UNBOUNDED PRECEDING", "RANGE UNBOUNDED PRECEDING", ""),
        ],
    )
    def test_windows_of_joined_streams(self, left: str, right: str, times: str) -> None:
        tables = [f"{t} OVER ({w})" if w else t for t, w in (("orders", left), ("shipments", right))]
        for on, kept in (("o.id = s.id", "o.id = s.id"), ("o.id = s.id OR o.n = 1", "(o.id = s.id OR o.n = 1)")):
            made = translate(f"SELECT STREAM o.id FROM {tables[0]} AS o JOIN {tables[1]} s ON {on}", "sqlstream")
            on = f"{kept} AND {times}" if times else on
            assert made == f"SELECT o.id FROM orders AS o JOIN shipments s ON {on}"

    @pytest.mark.parametrize(
        ("window", "rest", "message"),
        [
            ("(ROWS 3 PRECEDING)", "JOIN s ON o.id = s.id", "is a length of time"),
            (
                "(RANGE BETWEEN INTERVAL '2' HOUR PRECEDING AND INTERVAL '1' HOUR PRECEDING)",
                "JOIN s ON TRUE",
                "is a length of time",
            ),
            ("w", "JOIN s ON o.id = s.id", "no window named w"),
            ("(ROWS CURRENT ROW)", "JOIN s USING (id)", "joins two streams by ON"),
            ("(ROWS CURRENT ROW)", "JOIN s ON o.id = s.id JOIN u ON u.id = s.id", "joins two streams by ON"),
        ],
    )
    def test_windows_that_no_join_has(self, window: str, rest: str, message: str) -> None:
        at = f"{'orders ' if 'by ON' in message else ''}OVER {window}"
        self.refused(
            f"SELECT STREAM o.id FROM orders OVER {window} AS o {rest}", message, at=at, hint="", dialect="sqlstream"
        )

    def test_names_of_columns(self) -> None:
        window = "WINDOW w AS (ROWS 2 PRECEDING)"
        made = translate(
            f"SELECT STREAM n, n + 1, max(n) OVER w, t.n AS m, FLOOR(ROWTIME TO DAY), min(n) OVER w + 1 FROM t {window}",
            "sqlstream",
        )
        for name in (
            "n + 1 AS `EXPR$1`",
            "OVER w AS `EXPR$2`",
            "date_trunc('DAY', ROWTIME) AS `EXPR$4`",
            "OVER w + 1 AS `EXPR$5`",
        ):
            assert name in made
        assert made.count("EXPR$") == 4
        assert (
            translate("SELECT STREAM *, n + 1 FROM t", "sqlstream") == "SELECT *, n + 1 FROM t"
        )  # its place isn't known

    def test_divisions(self) -> None:
        schema = {"t": {"a": "int", "b": "smallint", "c": "bigint", "x": "double"}}
        for given, made in (
            ("a / b AS y", "CAST(a DIV b AS INT) AS y"),
            ("a/2/b", "CAST(CAST(a DIV 2 AS INT) DIV b AS INT) AS `EXPR$0`"),
            ("c / b AS y", "c DIV b AS y"),
            ("a / x AS y", "a / x AS y"),
            ("a / 2.0 AS y", "a / 2.0 AS y"),
            ("x / (a / b) AS y", "x / (CAST(a DIV b AS INT)) AS y"),
        ):
            assert translate(f"SELECT STREAM {given} FROM t", "sqlstream", schema=schema) == f"SELECT {made} FROM t"
        assert translate("SELECT STREAM a / b AS y FROM t", "sqlstream") == "SELECT a / b AS y FROM t"

    def test_lag_with_a_default(self) -> None:
        window = "OVER (ORDER BY ROWTIME ROWS 2 PRECEDING)"
        made = translate(f"SELECT STREAM LAG(n, 2, 0) {window} AS y FROM t", "sqlstream")
        assert "lag(n, 2, 0) OVER (ORDER BY ROWTIME" in made
        sql = f"SELECT STREAM LAG(n, 2, 0) {window} + 1 AS y FROM t"
        self.refused(sql, "a column of its own", at="LAG(n, 2, 0)", hint="in a subquery", dialect="sqlstream")

    def test_conditions_of_conditions(self) -> None:
        """They bind as in Calcite, whose rule they share with dialect `flink`; calls over windows are among them."""
        schema = {"t": {"ok": "boolean", "a": "int", "s": "string", "rowtime": "timestamp"}}
        for given, made in (
            ("ok = s LIKE 'a%'", "ok = (s LIKE 'a%')"),
            ("s NOT LIKE 'a%' = ok", "(s NOT LIKE 'a%') = ok"),
            ("ok <> a NOT IN (1, 2)", "ok <> (a NOT IN (1, 2))"),
            ("a BETWEEN 1 AND 2 IS TRUE", "(a BETWEEN 1 AND 2) IS TRUE"),
            ("a IS NULL = ok", "(a IS NULL) = ok"),
            ("ok = a IS NULL", "ok = a IS NULL"),
            ("ok = (a IN (1))", "ok = (a IN (1))"),
            ("ok IS DISTINCT FROM ok < ok", "(ok IS DISTINCT FROM ok) < ok"),
            ("a IS NOT DISTINCT FROM a + 1 = ok", "(a IS NOT DISTINCT FROM a + 1) = ok"),
            ("ok IS DISTINCT FROM s LIKE 'a%'", "ok IS DISTINCT FROM (s LIKE 'a%')"),
            ("a < 2 IS DISTINCT FROM ok", "a < 2 IS DISTINCT FROM ok"),
            ("a / 2 IN (1) = ok", "(CAST(a DIV 2 AS INT) IN (1)) = ok"),
            ("ok = a / 2 BETWEEN 1 AND a / 3", "ok = (CAST(a DIV 2 AS INT) BETWEEN 1 AND CAST(a DIV 3 AS INT))"),
        ):
            assert translate(f"SELECT {given} AS y FROM t", "sqlstream", schema=schema) == f"SELECT {made} AS y FROM t"
        window = "OVER (ROWS 3 PRECEDING)"
        made = translate(f"SELECT ok = MAX(a) {window} / 2 IN (1) FROM t", "sqlstream", schema=schema)
        assert "SELECT ok = (CAST(max(a) OVER" in made and " DIV 2 AS INT) IN (1)) AS `EXPR$0`" in made

    def test_what_only_sqlstream_has(self) -> None:
        self.refused(
            "CREATE OR REPLACE PUMP p AS INSERT INTO s SELECT STREAM a FROM t",
            "no PUMPS",
            at="CREATE OR REPLACE PUMP",
            hint="SELECT alone",
            dialect="sqlstream",
        )
        self.refused(
            "CREATE STREAM s (a INT)", "no STREAMS", at="CREATE STREAM", hint="SELECT alone", dialect="sqlstream"
        )


class TestWithWindows(Pairs):
    def written(self, sql: str) -> str:
        return flat(translate(sql, "openmldb", schema=SCHEMA))

    @pytest.mark.parametrize(
        ("tail", "last"),
        [
            ("LAST JOIN u ORDER BY u.ts ON t.i = u.i AND t.ts - 1 >= u.ts", "timestamp_millis(unix_millis(t.ts) - 1)"),
            ("LAST JOIN u ORDER BY u.ts ON t.i = u.i AND u.ts <= t.ts - 1", "timestamp_millis(unix_millis(t.ts) - 1)"),
            ("LAST JOIN u ORDER BY u.ts ON t.i = u.i AND t.n > t.i DIV 2", "t.n > CAST(t.i DIV 2 AS INT)"),
            ("LAST JOIN u ORDER BY u.ts ON t.i = u.i AND 5 < u.i DIV 2", "5 < CAST(u.i DIV 2 AS INT)"),
            ("WHERE 5 < f * i", "5 < CAST(f * i AS FLOAT)"),
        ],
    )
    def test_what_stands_at_the_end_of_a_query_is_written_once(self, tail: str, last: str) -> None:
        window = "(PARTITION BY s ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)" if "WHERE" in tail else ""
        item = f"max(i) OVER {window} DIV 2" if window else "t.i"
        made = self.written(f"SELECT * FROM (SELECT {item} FROM t {tail}) AS q")
        assert made.count("(") == made.count(")") and made.endswith(")AS q")
        assert made.count(flat(last)) == 1 and " AS INT)AS INT)" not in made
        if window:
            assert flat("DIV 2 AS INT) AS `max(i)over ANONYMOUS_WINDOW  DIV 2`") in made

    def test_a_comma_before_from(self) -> None:
        assert self.written("SELECT i, s, FROM t") == flat("SELECT i, s FROM t")
        assert self.written("SELECT i, (SELECT s, FROM u), FROM t") == flat("SELECT i, (SELECT s FROM u) FROM t")
        assert "AS y FROM t" in self.written(f"SELECT i, count(i) OVER w AS y, FROM t {W}")

    def test_around_a_call_over_a_window(self) -> None:
        text = self.written(f"SELECT inc(count(i) OVER w) AS y, string(max(x) OVER w) AS z FROM t {W}")
        assert flat("(count(i) OVER w + 1) AS y") in text
        assert flat(f"{SIX.format('max(x) OVER w')} AS z") in text

    def test_within_a_call_over_a_window(self) -> None:
        assert flat("max(timestamp_millis(unix_millis(ts) - 1000)) OVER w") in self.written(
            f"SELECT max(ts - 1000) OVER w AS y FROM t {W}"
        )

    def test_an_inner_over_of_the_same_window(self) -> None:
        sql = f"SELECT sum(i - (min(i){{}})) OVER w AS y FROM t {W}"
        assert self.written(sql.format(" OVER w")) == self.written(sql.format(""))
        other = f"SELECT sum(i - (min(i) OVER v)) OVER w AS y FROM t {W}, v AS (PARTITION BY s ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
        self.refused(other, "can't stand in another one", at="min(i) OVER v", hint="subquery", dialect="openmldb")

    def test_no_guards_where_types_are_known(self) -> None:
        for call in [
            "sum(i DIV 2)",
            "sum(i & 1)",
            "sum(if_null(i, 0))",
            "sum_cate(i, s)",
            "top_n_key_avg_cate_where(x, b, s, 2)",
            "top(ts, 2)",
            "topn_frequency(d, 2)",
            "count_cate(i, ts)",
            "distinct_count(concat(s, i))",
            "entropy(i)",
        ]:
            text = self.written(f"SELECT {call} OVER w AS y FROM t {W}")
            assert "typeof" not in text and "raise_error" not in text, text

    def test_refused(self) -> None:
        self.refused(
            "SELECT hash64(s) FROM t", "Spark has no hash64", at="hash64(s)", hint="xxhash64", dialect="openmldb"
        )
        self.refused(
            "SELECT date_format(ts, '%Q') FROM t",
            "Spark has no %Q",
            at="date_format(ts, '%Q')",
            hint="%Y",
            dialect="openmldb",
        )
        self.refused(
            "SELECT date_format(ts, s) FROM t",
            "the format of date_format is a text",
            at="date_format(ts, s)",
            hint="'%Y-%m-%d'",
            dialect="openmldb",
        )
        self.refused(
            "SELECT regexp_like(s, 'a', 'z') FROM t",
            "flags",
            at="regexp_like(s, 'a', 'z')",
            hint="'i'",
            dialect="openmldb",
        )
