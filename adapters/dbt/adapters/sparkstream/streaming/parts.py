"""Parts of a run: a model's table, sources, query and sidecar folders, each made once in a session of its own."""

from __future__ import annotations

from collections.abc import Callable

from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.outdated import Leftovers
from dbt.adapters.sparkstream.streaming.query import ModelQuery
from dbt.adapters.sparkstream.streaming.sidecars import Places
from dbt.adapters.sparkstream.streaming.sources.inputs import Sources
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.kinds import table_of
from dbt.adapters.sparkstream.streaming.tables.open_windows import OpenWindows


class Parts:
    """What a run or a backfill of a model works with.

    Args:
        model: the model.
        plan: of its query.
        engine: a session of its own.
        report: told, in a line, what is worth telling.
        warn: told what a person has to know, and do.

    Attributes:
        table: the model's table.
        sources: its sources.
        query: its query, with them.
        views: the views of its open windows.
        places: the table's sidecar folders.
        leftovers: what earlier tables of the model have left.
    """

    def __init__(
        self,
        model: Model,
        plan: StreamPlan,
        engine: Engine,
        report: Callable[[str], None],
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.model = model
        self.plan = plan
        self.engine = engine
        self.report = report
        self.warn = warn
        self.table = table_of(engine, model.relation, model.config.file_format)
        self.sources = Sources(engine, model.config, warn)
        self.query = ModelQuery(model, plan, engine, self.sources)
        self.views = OpenWindows(engine, model, plan)
        self.places = Places(model, self.table)
        self.leftovers = Leftovers(engine, self.table, model, self.places, self.views, report)
