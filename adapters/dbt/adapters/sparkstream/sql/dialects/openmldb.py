"""OpenMLDB's SQL, as far as Spark can run it."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp
from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.sql.dialects.sparkstream import SparkStream
from dbt.adapters.sparkstream.sql.grammar.span_parser import ForeignParser


class OpenMLDB(SparkStream):
    SHAPE = (
        "write SELECT ... FROM t [LAST JOIN u ORDER BY u.ts ON t.k = u.k] [WHERE ...] WINDOW w AS "
        "([UNION t2] PARTITION BY k ORDER BY ts ROWS_RANGE BETWEEN 10s PRECEDING AND CURRENT ROW [MAXSIZE n] [flags])"
    )

    FOREIGN: ClassVar[dict[tuple[str, str | None], tuple[str, str]]] = {
        ("DEPLOY", None): (
            "DEPLOY makes a service of OpenMLDB's, which Spark hasn't",
            "leave DEPLOY and its name and options out: a model holds the query alone",
        ),
        ("SET", "@"): ("this sets a variable of OpenMLDB's", "leave it out: Spark runs everything in batch"),
    }

    class Tokenizer(SparkStream.Tokenizer):
        # 3s and 1d are lengths of time, not numbers with a type.
        NUMERIC_LITERALS: ClassVar[dict[str, str]] = {}
        KEYWORDS = {**SparkStream.Tokenizer.KEYWORDS, "MOD": TokenType.MOD}

    class Parser(ForeignParser):
        FRAME_DIALECT = "openmldb"
        FUNC_TOKENS = ForeignParser.FUNC_TOKENS | {TokenType.NOT, TokenType.MOD, TokenType.JOIN}
        CONJUNCTION: ClassVar[dict[TokenType, type[exp.Expr]]] = {
            **ForeignParser.CONJUNCTION,
            TokenType.XOR: exp.Xor,
        }
