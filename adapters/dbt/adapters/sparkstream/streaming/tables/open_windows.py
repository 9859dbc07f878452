"""The windows of a model that are open: the views that show them, and the table below these."""

from __future__ import annotations

from collections.abc import Sequence

from dbt.adapters.sparkstream.sql.core.literals import backticked
from dbt.adapters.sparkstream.sql.streaming import StreamPlan
from dbt.adapters.sparkstream.sql.streaming.endings import CLOSED, OnSlices
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.tables.catalog import BATCH, Facts, make, suffixed
from dbt.adapters.sparkstream.streaming.worker.open_views import IS_OPEN, NOW, OPEN, ROWS, SNAPSHOT, OpenViews


class OpenWindows:
    """The views of a model's open windows, as a run has them made and dropped."""

    def __init__(self, engine: Engine, model: Model, plan: StreamPlan) -> None:
        self._engine = engine
        self._model = model
        self._ending = plan.ending if isinstance(plan.ending, OnSlices) else None
        self._open, self._now, self._rows = (suffixed(model.relation, suffix) for suffix in (OPEN, NOW, ROWS))

    def check(self, columns: Sequence[tuple[str, str]]) -> None:
        """Refuses columns that the views have for themselves, and names of views that somebody else has taken."""
        if not self._shows:
            return
        taken = next((name for name, _ in columns if name.casefold() in (IS_OPEN, SNAPSHOT)), None)
        if taken is not None:
            raise StreamingError(
                f"with emit='open', the column {taken} is the adapter's own\n  give yours another name"
            )
        if not self._engine.exists(self._rows):
            for view in (self._open, self._now):
                if self._engine.exists(view):
                    raise StreamingError(
                        f"{view} is there already, and no streaming model has made it\n"
                        "  drop it, or give the model another name"
                    )

    def drop(self) -> None:
        """Drops what an earlier table of the model has left."""
        if not self._engine.exists(self._rows):
            return  # and views of these names, if there are any, are somebody else's
        for view in (self._open, self._now):
            if self._engine.exists(view) and Facts.of(self._engine, view).kind == "VIEW":
                self._engine.sql(f"DROP VIEW {view}")
        self._engine.sql(f"DROP TABLE {self._rows}")

    def make(self, columns: Sequence[tuple[str, str]]) -> None:
        """Makes the views with no rows, and the table below, where they aren't there."""
        if not self._shows:
            return
        types = {name.casefold(): type_ for name, type_ in columns}
        names = self._engine.columns(self._model.relation)
        lines = ",\n  ".join(f"{backticked(name)} {types[name.casefold()]}" for name in names if name != BATCH)
        make(
            self._engine,
            self._rows,
            f"CREATE TABLE IF NOT EXISTS {self._rows} (\n  {lines},\n  {SNAPSHOT} STRING\n) USING parquet "
            f"PARTITIONED BY ({SNAPSHOT})\nCOMMENT 'windows that are open; read them by {OPEN} and {NOW}'",
        )
        views = self.of(names)
        if views is not None:
            views.begin(self._engine.sql)

    def of(self, columns: Sequence[str]) -> OpenViews | None:
        """The views, for the sink; None where open windows aren't shown."""
        if self._ending is None or self._ending.open is None:
            return None
        own = [backticked(name) for name in columns if name != BATCH]
        names = self._model.relation, self._open, self._now, self._rows
        return OpenViews(*names, own, BATCH, CLOSED, self._ending.open, self._ending.query)

    @property
    def _shows(self) -> bool:
        return self._ending is not None and self._ending.open is not None
