"""Writes the gallery: every example of Flink's pages on windows as a model of this package.

    python -m tests.integration.gallery

writes `models/gallery/flink/`, `docs/gallery.md` and its picture from the recorded examples. Each example is there
through the door that reads best. Tests see to it that the files are as this script would write them and that each
example is there; they write the models of the other doors into a project of their own, and see that all have the rows.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.golden.runner import Case, Relation, family, flink_type, load
from tests.integration.doors import DOORS, islands, through
from tests.integration.gallery_picture import Entry, overview

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "models" / "gallery" / "flink"
DOC = ROOT / "docs" / "gallery.md"
PICTURE = ROOT / "docs" / "gallery.svg"

PAGES = {
    "flink-window-aggregation": "Window Aggregation",
    "flink-window-join": "Window Join",
    "flink-over-aggregation": "Over Aggregation",
}

# Tables of the pages. Some have one name and different columns or rows in several examples.
INPUTS = {
    ("Bid", 6): "flink_bid",
    ("Bid", 0): "flink_bid_without_rows",
    ("Orders", 7): "flink_orders",
    ("LeftTable", 3): "flink_left_table",
    ("RightTable", 3): "flink_right_table",
    ("Orders", 9): "flink_product_orders",
    ("Orders", 14): "flink_product_orders_14",
}
DECIMAL_ORDERS = "flink_product_orders_decimal"

# Here and not in dbt_project.yml: dbt shows the variables of a project to its packages' files, but not to that one.
ENABLED = """      enabled: "{{ var('sparkstream_examples', false) }}\""""

# In the gallery itself an example is written through the first of these that it has.
READS_BEST = ("macro", "sql", "config")

# What an example can't say through a door, with the reason for the table in the documentation.
NO_WINDOW = "no window function in it"
GROUP_WINDOW = (
    "a function in GROUP BY: `select ... from {{ tumble(...) }} group by window_start, window_end` is the same"
)
UNNAMED = "Spark gives a column without an alias another name"
FLINK_TYPES = "AVG of an INT is a DOUBLE in Spark"


def _columns(case: Case) -> tuple[tuple[str, str], ...]:
    return case.expected.columns if case.expected else ()


def not_through(case: Case) -> dict[str, str]:
    """Door -> why an example is not written through it."""
    if case.more["doc"] == "flink-over-aggregation":
        no = {"island": NO_WINDOW, "macro": NO_WINDOW}
        return {**no, "sql": FLINK_TYPES} if "typing" in case.tags else no
    if "groupwindow" in case.tags:
        no = {"island": GROUP_WINDOW, "macro": GROUP_WINDOW}
        return {**no, "sql": UNNAMED} if any(name == "EXPR$2" for name, _ in _columns(case)) else no
    if "plain" in case.tags or case.id == "doc-cascade-view":
        return {} if case.setup else {"island": NO_WINDOW, "macro": NO_WINDOW}
    return {}


# Joins through the macro that is made for them, as an analyst writes them.
_SIDES = """{{ window_join(
    tumble(ref('flink_left_table'), 'row_time', '5 minutes'),
    tumble(ref('flink_right_table'), 'row_time', '5 minutes'),
    on='num', type='TYPE') }}"""
_BOTH = "L.num AS L_Num, L.id AS L_Id, R.num AS R_Num, R.id AS R_Id"


def _join(type_: str, columns: str) -> str:
    return f"SELECT {columns}\nFROM {_SIDES.replace('TYPE', type_)}\n"


# The join's own window_start is there for a row of either side, L.window_start only for one of the left side.
_LEFT_BOUNDS = f"{_BOTH}, L.window_start, L.window_end"
WINDOW_JOINS = {
    "doc-join-full": _join("full", _LEFT_BOUNDS),
    "doc-join-full-coalesce": _join("full", f"{_BOTH}, window_start, window_end"),
    "doc-join-full-outer": _join("full", _LEFT_BOUNDS),
    "doc-join-left": _join("left", _LEFT_BOUNDS),
    "doc-join-right": _join("right", _LEFT_BOUNDS),
    "doc-join-inner": _join("inner", f"{_BOTH}, window_start, window_end"),
    "doc-join-inner-keyword": _join("inner", f"{_BOTH}, window_start, window_end"),
    "doc-semi-in": _join("semi", "*"),
    "doc-semi-exists": _join("semi", "*"),
    "doc-anti-not-in": _join("anti", "*"),
    "doc-anti-not-exists": _join("anti", "*"),
    "doc-join-after-topn": """SELECT L.id AS l_id, R.id AS r_id, window_start
FROM {{ window_join(
    window_top_n(tumble(ref('flink_left_table'), 'row_time', '5 minutes'), 1, order_by='num desc'),
    window_top_n(tumble(ref('flink_right_table'), 'row_time', '5 minutes'), 1, order_by='num desc')) }}
""",
}


@dataclass(frozen=True)
class Example:
    """An example of a page, and where it is in the gallery."""

    case: Case

    @property
    def name(self) -> str:
        name = self.case.id.removeprefix("doc-").replace("-", "_")
        # Examples that print a table have the table's name: `SELECT * FROM Bid`.
        return f"flink_select_{name}" if f"flink_{name}" in INPUTS.values() else f"flink_{name}"

    @property
    def page(self) -> str:
        """The name of the page, as that of a folder."""
        return str(self.case.more["doc"]).removeprefix("flink-").replace("-", "_")

    @property
    def file(self) -> Path:
        """The model in the gallery."""
        return GALLERY / self.page / f"{self.name}.sql"

    @property
    def best(self) -> str:
        """The door of the model in the gallery."""
        return next(door for door in READS_BEST if door in self.doors)

    @property
    def title(self) -> str:
        return str(self.case.more["title"])

    @property
    def expected(self) -> Relation:
        assert self.case.expected
        return self.case.expected

    @property
    def doors(self) -> list[str]:
        without = not_through(self.case)
        # The text of a model is a door of its own only where neither island nor macro can say the same.
        if "island" not in without:
            without["sql"] = ""
        return [door for door in DOORS if door not in without]

    def model(self, door: str) -> str:
        return self.name if door == self.best else f"{self.name}__{door}"

    def text(self, door: str) -> str:
        """The model of a door."""
        case, models = self.case, {name: input_name(name, table) for name, table in self.case.tables.items()}
        sql = case.sql
        if case.id == "doc-cascade-view":
            sql = case.setup[0].split(" AS\n", 1)[1]
        elif case.id == "doc-cascade":
            models["window1"] = "flink_cascade_view"
        sql = _aligned(sql)
        if door == "macro" and case.id in WINDOW_JOINS:
            return WINDOW_JOINS[case.id]
        if door == "island" and case.more["doc"] == "flink-window-aggregation":
            return islands(sql, models, short=True) + "\n"
        return through(door, sql, models)


def _aligned(sql: str) -> str:
    """A statement without the space that the page's prompt put before all lines but the first."""
    first, *rest = sql.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    cut = min(indents, default=0)
    return "\n".join([first, *(line[cut:] for line in rest)])


def input_name(name: str, table: Relation) -> str:
    """The seed of a page's table."""
    if name == "Orders" and any(family(type_) == "decimal" for _, type_ in table.columns):
        return DECIMAL_ORDERS
    return INPUTS[name, len(table.rows)]


def examples() -> list[Example]:
    return [Example(case) for case in load("flink_documented.json")]


# -- files --------------------------------------------------------------------------------------------
def spark_type(type_: str) -> str:
    """`TIMESTAMP(3) NOT NULL` -> `timestamp_ntz`."""
    kind = flink_type(type_.replace(" NOT NULL", "")).lower().replace(" ", "")
    return re.sub(r"^(\w+?)\((\d+)\)$", r"\1", kind) if not kind.startswith("decimal") else kind


def _csv(table: Relation) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([name for name, _ in table.columns])
    for row in table.rows:
        writer.writerow([_cell(value) for value in row])
    return out.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    return value.removesuffix(".000") if isinstance(value, str) else value


def _seed(name: str, table: Relation, description: str) -> list[str]:
    return [
        f"  - name: {name}",
        f"    description: {description}",
        "    config:",
        ENABLED,
        "      quote_columns: true",
        "      column_types:",
        *(f"        {_yaml(column)}: {spark_type(type_)}" for column, type_ in table.columns),
    ]


def _yaml(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else f'"{name}"'


def _model_yaml(example: Example, door: str, enabled: Sequence[str] = ()) -> list[str]:
    return [
        f"  - name: {example.model(door)}",
        f'    description: "{PAGES[example.case.more["doc"]]}: {example.title}"',
        "    config:",
        *enabled,
        f"      tags: [flink, {door}]",
        "    data_tests:",
        "      - matches_rows:",
        "          arguments:",
        f"            expected: ref('{example.name}__expected')",
    ]


def _page_yaml(page: Sequence[Example]) -> str:
    lines = ["models:"]
    for example in page:
        lines += _model_yaml(example, example.best, [ENABLED])
    lines += ["", "seeds:"]
    for example in page:
        is_printed = example.case.more["source"] == "documented"
        printed = "The table that the page prints." if is_printed else "What Flink returns."
        lines += _seed(f"{example.name}__expected", example.expected, printed)
    return "\n".join(lines) + "\n"


def others(chosen: Iterable[tuple[Example, str]] | None = None) -> dict[str, str]:
    """Examples through doors that they don't have in the gallery, for a project that installs the package.

    Args:
        chosen: which example, and through which door; by default all, through all of theirs.

    Returns:
        Path in the project -> text.
    """
    pairs = ((example, door) for example in examples() for door in example.doors) if chosen is None else chosen
    texts, lines = {}, ["models:"]
    for example, door in pairs:
        if door != example.best:
            texts[f"models/doors/{example.model(door)}.sql"] = example.text(door)
            lines += _model_yaml(example, door)
    return {**texts, "models/doors/doors.yml": "\n".join(lines) + "\n"}


def files() -> dict[Path, str]:
    """Every file of the gallery and its page in the documentation, with its text."""
    texts: dict[Path, str] = {}
    pages: dict[str, list[Example]] = {}
    inputs: dict[str, tuple[str, Relation]] = {}
    for example in examples():
        for name, table in example.case.tables.items():
            inputs.setdefault(input_name(name, table), (name, table))
        pages.setdefault(example.page, []).append(example)
        texts[example.file] = example.text(example.best)
        texts[example.file.with_name(f"{example.name}__expected.csv")] = _csv(example.expected)
    for name, page in pages.items():
        texts[GALLERY / name / f"{name}.yml"] = _page_yaml(page)
    lines = ["seeds:"]
    for seed, (name, table) in inputs.items():
        texts[GALLERY / "inputs" / f"{seed}.csv"] = _csv(table)
        lines += _seed(seed, table, f"The table {name} of Flink's pages.")
    texts[GALLERY / "inputs" / "inputs.yml"] = "\n".join(lines) + "\n"
    texts[DOC] = "".join(_doc())
    texts[PICTURE] = _picture(inputs)
    return texts


def _picture(inputs: Mapping[str, tuple[str, Relation]]) -> str:
    tables = {name: [(c, spark_type(t)) for c, t in table.columns] for name, (_, table) in inputs.items()}
    pages = {
        page: [
            Entry(example.title, tuple(input_name(*table) for table in example.case.tables.items()), len(example.doors))
            for example in examples()
            if example.case.more["doc"] == doc
        ]
        for doc, page in PAGES.items()
    }
    return overview(tables, pages)


# -- documentation --------------------------------------------------------------------------------------
_HEAD = """# Gallery

Every example of Flink's pages on [window aggregation][agg], [window join][join] and [over aggregation][over], as a
model in `models/gallery/flink/`, written in the way that reads best. A dbt test compares it with the table that the
page prints, or where it prints none, with what Flink 2.2.1 returned. The project's tests do so for all other ways.

| way | how the model is written |
|---|---|
| window_sql | the page's SQL between `{% call window_sql(dialect='flink') %}` and `{% endcall %}` |
| config | the page's SQL under `{{ config(meta={'sql_dialect': 'flink'}) }}` |
| sql | the page's SQL as the model's text: here Spark needs no other dialect |
| island | `<< tumble({{ ref('flink_bid') }}, bidtime, '10 minutes') >>`, or Flink's spelling, in Spark SQL |
| macro | `{{ tumble(ref('flink_bid'), 'bidtime', '10 minutes') }}` in Spark SQL; joins with `{{ window_join(...) }}` |

A bold ✓ is the way of the model in the gallery.

The only change to a page's SQL is `{{ ref('flink_bid') }}` for `Bid`. All but `macro` need the adapter; `macro` runs on
plain dbt-spark too. In Python, `translate(sql, dialect='flink')`, takes every statement as the page has it.

The models are off in projects that install this package. To see them run:

```shell
dbt build --select package:sparkstream --vars 'sparkstream_examples: true'
```

![The tables of Flink's pages, and the examples that read them](gallery.svg)

"""

_TAIL = """
[agg]: https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/table/sql/queries/window-agg/
[join]: https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/table/sql/queries/window-join/
[over]: https://nightlies.apache.org/flink/flink-docs-stable/docs/dev/table/sql/queries/over-agg/
"""

_NOTES = {
    "doc-join-full": "The page prints bounds for R2 and R4 too. Flink's own answer has NULL there, as `L.window_start` "
    "has no value; the next example, and the column `window_start` of `window_join`, give the printed table.",
    "doc-grouping-sets-no-rows": "The page says that an empty grouping set returns a row even without input; Flink "
    "returns none, and so does this.",
    "doc-session-partition": "Flink has SESSION on streams only; here it works on tables too.",
    "doc-session": "Flink has SESSION on streams only; here it works on tables too.",
    "doc-group-session-aux": "Flink has SESSION on streams only; here it works on tables too.",
}


def _doc() -> Iterator[str]:
    yield _HEAD
    reasons: dict[str, int] = {}
    notes: list[str] = []
    for doc, page in PAGES.items():
        rows = [example for example in examples() if example.case.more["doc"] == doc]
        used = [door for door in DOORS if any(door in example.doors for example in rows)]
        yield f"## {page}\n\n| example | rows from | {' | '.join(used)} |\n|---|---|{'---|' * len(used)}\n"
        for example in rows:
            where = example.file.relative_to(ROOT).as_posix()
            source = "the page" if example.case.more["source"] == "documented" else "Flink"
            cells = [_mark(example, door, reasons) for door in used]
            title = f"[{example.title.replace('|', chr(92) + '|')}](../{where})"
            yield f"| {title} | {source} | {' | '.join(cells)} |\n"
            if example.case.id in _NOTES:
                notes.append(f"- {example.title}: {_NOTES[example.case.id]}\n")
        yield "\n"
    yield "".join(f"({number}) {reason}\n\n" for reason, number in reasons.items())
    yield "## Where the page and Flink differ\n\n" + "".join(notes)
    yield _TAIL


def _mark(example: Example, door: str, reasons: dict[str, int]) -> str:
    if door in example.doors:
        return "**✓**" if door == example.best else "✓"
    reason = not_through(example.case).get(door)
    return f"({reasons.setdefault(reason, len(reasons) + 1)})" if reason else ""


def main(texts: Mapping[Path, str]) -> None:
    shutil.rmtree(GALLERY, ignore_errors=True)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(files())
