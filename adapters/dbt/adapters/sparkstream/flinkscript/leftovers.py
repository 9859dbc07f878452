"""Statements and settings that have no counterpart in a dbt project, why, and what to do instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot.tokens import TokenType

from dbt.adapters.sparkstream.flinkscript.escapes import Variable
from dbt.adapters.sparkstream.flinkscript.hidden import HIDDEN, is_harmless, is_plain
from dbt.adapters.sparkstream.flinkscript.script import Script, Statement
from dbt.adapters.sparkstream.sql.core.tokens import Tokens


@dataclass(frozen=True)
class Leftover:
    """Part of a script that isn't in the project.

    Attributes:
        what: the statement or setting, in a few words, without secrets.
        line: its line in the script; None for a setting.
        why: why it isn't there, in Markdown.
        instead: advice, in Markdown.
    """

    what: str
    line: int | None
    why: str
    instead: str


PROCTIME = (
    "a table doesn't know when its rows arrived",
    "a column that holds when the event happened; models that need this one, but for lookups, are disabled",
)
UNDEFINED = (
    "INSERT writes to this table, and the script doesn't define it",
    "its model has the columns of the query; name them there",
)
LOOKUP = (
    "a table doesn't know when its rows arrived",
    "nothing: the model joins the table as it is when it runs, and a streaming model when it reads the rows",
)
SINK = "a `sink` in the model's config (docs: Kafka), or a job that reads the table"
"""Advice for a model whose rows aren't sent on."""
HINT = ("it sets options of a connector of Flink's", "options of the source, in models/inputs.yml")

_STATEMENTS: dict[tuple[str, ...], tuple[str, str]] = {
    ("CREATE", "FUNCTION"): (
        "its code is Java or Python for Flink",
        "make a function of Spark of it: CREATE FUNCTION in an on-run-start hook, or a macro; models that call it are "
        "disabled until then (take `enabled=false` out of them)",
    ),
    ("CREATE", "CATALOG"): (
        "catalogs are those of Spark's session",
        "set spark.sql.catalog.NAME and what it needs under server_side_parameters in profiles.yml",
    ),
    ("CREATE", "DATABASE"): ("dbt makes the schemas of its models", "nothing; `schema` in profiles.yml is its name"),
    ("CREATE", "MODEL"): ("Spark SQL calls no models", "call the model in a Python model"),
    ("CREATE", "CONNECTION"): ("connections are those of Spark's session", "set them in profiles.yml"),
    ("DROP",): ("dbt replaces what it makes", "nothing; drop what is no longer in the project by hand"),
    ("ALTER",): ("the project holds what CREATE says", "write the change into the source or model"),
    ("LOAD", "MODULE"): ("Spark has no modules", "nothing, where models use none of its functions"),
    ("UNLOAD", "MODULE"): ("Spark has no modules", "nothing"),
    ("USE", "MODULES"): ("Spark has no modules", "nothing"),
    ("ADD", "JAR"): ("it is for Flink", "name a jar for Spark by spark.jars under server_side_parameters"),
    ("REMOVE", "JAR"): ("it is for Flink", "nothing"),
    ("SHOW",): ("it only shows", "`dbt ls`, `dbt docs`"),
    ("DESCRIBE",): ("it only shows", "`dbt docs`, or `dbt show --inline 'describe ...'`"),
    ("DESC",): ("it only shows", "`dbt docs`, or `dbt show --inline 'describe ...'`"),
    ("EXPLAIN",): ("it only shows", "`sparkstream explain MODEL`"),
    ("ANALYZE",): ("statistics are Spark's", "a post-hook with ANALYZE TABLE {{ this }} COMPUTE STATISTICS"),
    ("TRUNCATE",): ("dbt replaces what it makes", "`dbt run --full-refresh`"),
    ("DELETE",): ("a model says what rows it has", "a WHERE in the model"),
    ("UPDATE",): ("a model says what rows it has", "a CASE in the model"),
    ("CALL",): ("it is a procedure of a catalog of Flink's", "a post-hook, where Spark's catalog has it too"),
    ("STOP", "JOB"): ("dbt's runs end by themselves", "nothing"),
    ("COMPILE", "PLAN"): ("Spark plans again in each run", "nothing"),
    ("EXECUTE", "PLAN"): ("Spark plans again in each run", "a model with the query of the plan"),
    **dict.fromkeys((("QUIT",), ("EXIT",), ("CLEAR",), ("HELP",)), ("it is of Flink's client", "nothing")),
    ("SOURCE",): ("it runs another script", "`sparkstream import flink` with that script, too"),
}


def leftover(script: Script, statement: Statement) -> Leftover | None:
    """A statement that isn't in the project, with reason and advice; None for a statement that Flink doesn't have."""
    words = [w for w in statement.words if w not in ("TEMPORARY", "SYSTEM")]
    found = next((f for head, f in _STATEMENTS.items() if tuple(words[: len(head)]) == head), None)
    if found is None:
        return None
    first = script.hidden("".join(_first_line(script.text, statement.tokens)))
    line = script.text.count("\n", 0, statement.span[0]) + 1
    return Leftover(first if len(first) <= 80 else f"{first[:77]}...", line, *found)


def _first_line(text: str, tokens: Tokens) -> Iterator[str]:
    """The first line of a statement in pieces, without comments and texts that aren't known to be harmless."""
    end = tokens[0].start
    for i, token in enumerate(tokens):
        if "\n" in text[tokens[0].start : token.start]:
            return
        yield " " if token.start > end else ""
        end = token.end + 1
        known = token.token_type is not TokenType.STRING or _is_known(tokens, i)
        yield text[token.start : end].partition("\n")[0] if known else f"'{HIDDEN}'"


def _is_known(tokens: Tokens, i: int) -> bool:
    """True if a text is a key, the value of a harmless option, a jar or a class."""
    if i + 1 < len(tokens) and tokens[i + 1].text == "=":
        return True
    if i > 1 and tokens[i - 1].text == "=":
        return is_harmless(tokens[i - 2].text, tokens[i].text)
    return i > 0 and tokens[i - 1].text.upper() in ("JAR", "ARTIFACT", "AS") and is_plain(tokens[i].text)


_SETTINGS: dict[str, tuple[str, str]] = {
    "execution.checkpointing": (
        "each `dbt run` of a streaming model is a checkpoint",
        "`trigger={'processing_time': '10 seconds'}` in models that `sparkstream stream` leaves running",
    ),
    "state.": ("state lies beside the table", "`checkpoint_location` in the model's config for another folder"),
    "table.exec.state.ttl": (
        "state is dropped when the watermark has passed its window",
        "a longer `watermark` keeps it longer",
    ),
    "table.exec.mini-batch": ("Spark works in micro-batches anyway", "`max_files_per_trigger` makes them smaller"),
    "table.exec.source.idle-timeout": (
        "the watermark of several streams is that of the slowest",
        "`flush=true` closes all windows at the end of a run",
    ),
    "table.exec.sink.not-null-enforcer": ("a table doesn't check its rows", "a test `not_null` on the column"),
    "table.exec.sink": ("it is about Flink's sinks", "tests of dbt on the model"),
    "table.exec": ("it says how Flink works, not what comes out", "nothing"),
    "table.optimizer": ("Spark has an optimiser of its own", "nothing"),
    "table.dml-sync": ("dbt waits for its models", "nothing"),
    "table.sql-dialect": ("models are in Flink's default dialect", "rewrite what is in another one"),
    "sql-client": ("it is of Flink's client", "nothing"),
    "pipeline.": ("it is about Flink's jobs", "nothing"),
    "execution.": ("it is about Flink's jobs", "nothing"),
    "restart-strategy": ("a run that fails is run again by whoever runs dbt", "`dbt retry`"),
    "": ("it is a setting of Flink's", "see whether Spark has one that does the same"),
}


def setting(key: str, value: str | Variable) -> Leftover:
    """A setting without a counterpart, with reason and advice."""
    why, instead = next(said for prefix, said in _SETTINGS.items() if key.startswith(prefix))
    return Leftover(f"SET '{key}' = '{HIDDEN if isinstance(value, Variable) else value}'", None, why, instead)
