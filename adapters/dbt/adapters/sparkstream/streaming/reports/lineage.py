"""Reports the runs of streaming models to OpenLineage, where that is configured as for its other clients.

Nothing of its client is imported before. A report that fails is a line in the log, and never the end of a run: under
`--warn-error`, a warning would be one.
"""

from __future__ import annotations

import logging
import os
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dbt.adapters.sparkstream.__version__ import version
from dbt.adapters.sparkstream.secrecy.redaction import redacted
from dbt.adapters.sparkstream.streaming.model import Model
from dbt.adapters.sparkstream.streaming.reports.watch import Outcome
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource
from dbt.adapters.sparkstream.streaming.spark.engine import Engine
from dbt.adapters.sparkstream.streaming.spark.folders import path_of
from dbt.adapters.sparkstream.streaming.tables.catalog import Facts

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient

PRODUCER = f"https://pypi.org/project/dbt-sparkstream/{version}"
"""Producer of the events; OpenLineage's rules ask for an address."""

FILE = "openlineage.yml"
NAMESPACE = "OPENLINEAGE_NAMESPACE"
PARENTS = ("OPENLINEAGE_ROOT_PARENT_ID", "OPENLINEAGE_PARENT_ID")
"""Variables with the run that has started dbt, from a scheduler, as NAMESPACE/JOB/RUN; the first one goes before."""

_EXTRA = "pip install 'dbt-sparkstream[openlineage]'"

METASTORES, WAREHOUSE = SETTINGS = ("spark.hadoop.hive.metastore.uris", "spark.sql.warehouse.dir")
"""Settings of Spark with the address of a Hive metastore, and with the folder of the catalog's tables."""


def configured() -> str | None:
    """Variable or file that configures OpenLineage; None if nothing does, or if it is disabled."""
    if os.environ.get("OPENLINEAGE_DISABLED", "").strip().lower() == "true":
        return None
    if os.environ.get("OPENLINEAGE_URL"):
        return "OPENLINEAGE_URL"
    for name, text in os.environ.items():
        if name.startswith("OPENLINEAGE__TRANSPORT") and text:
            return name
    named = os.environ.get("OPENLINEAGE_CONFIG")
    files = [*([Path(named)] if named else []), Path(FILE), Path.home() / ".openlineage" / FILE]
    return next((str(file) for file in files if file.is_file()), None)


@dataclass
class Lineage:
    """Reports of one run of a model to OpenLineage; `warn` takes the error of a report that fails, once."""

    client: OpenLineageClient
    model: Model
    engine: Engine
    inputs: Sequence[Dataset]
    outputs: Sequence[Dataset]
    warn: Callable[[str], None]
    _id: str = field(default_factory=lambda: str(uuid.uuid4()))
    _failed: bool = False

    @classmethod
    def of(
        cls,
        client: OpenLineageClient,
        model: Model,
        engine: Engine,
        credentials: Any,
        tables: Sequence[str],
        warn: Callable[[str], None],
    ) -> Lineage:
        """Reports of a run of a model, with datasets by the profile and the tables that the model names."""
        settings = {name: engine.setting(name) for name in SETTINGS}
        catalog = catalog_namespace(str(credentials.method), credentials.host, credentials.port, settings)
        inputs = [dataset for source in model.sources for dataset in of_source(catalog, source)]
        streams = {source.relation for source in model.sources}
        inputs += [table(catalog, name) for name in tables if name not in streams]
        outputs = [table(catalog, model.relation)]
        if model.config.topic is not None:
            outputs.append(topic(model.config.topic.servers, model.config.topic.name, model.relation))
        return cls(client, model, engine, inputs, outputs, warn)

    def goes_on(self, rows: int) -> None:
        """Reports that the run goes on."""
        if not self._failed:  # a server that doesn't answer takes its time
            self._tell("RUNNING", rows)

    def of_run(self, run: Callable[[], Outcome]) -> Outcome:
        """Runs the model, and reports the run's beginning and its end, however that is."""
        self._tell("START")
        try:
            outcome = run()
        except Exception as error:
            self._tell("FAIL", error=redacted(str(error)))
            raise
        except BaseException:
            self._tell("ABORT")
            raise
        self._tell("COMPLETE", outcome.rows)
        return outcome

    def _tell(self, what: str, rows: int | None = None, error: str | None = None) -> None:
        try:
            self.client.emit(self._event(what, rows, error))
        except Exception as failure:
            self._warn(f"OpenLineage can't be told of the run: {failure}")

    def _warn(self, text: str) -> None:
        if not self._failed:
            self.warn(f"{self.model.identifier}: {text}")
        self._failed = True

    def _event(self, what: str, rows: int | None, error: str | None) -> Any:
        from openlineage.client import event_v2 as event
        from openlineage.client import facet_v2 as facet

        engine = facet.processing_engine_run.ProcessingEngineRunFacet
        of_run: dict[str, Any] = {"processing_engine": engine(self.engine.version, "spark", version, producer=PRODUCER)}
        if parent := self._parent():
            of_run["parent"] = parent
        if error is not None:
            of_run["errorMessage"] = facet.error_message_run.ErrorMessageRunFacet(error, "SQL", producer=PRODUCER)
        # A run that ends when all is processed is a finite one to OpenLineage, though what it reads is a stream.
        kind = "BATCH" if self.model.config.interval is None else "STREAMING"
        of_job: dict[str, Any] = {
            "jobType": facet.job_type_job.JobTypeJobFacet(kind, "DBT", "MODEL", producer=PRODUCER),
            "sql": facet.sql_job.SQLJobFacet(redacted(self.model.sql), self.model.dialect, producer=PRODUCER),
        }
        schema = self.model.relation.replace("`", "").rpartition(".")[0]
        name = f"{schema}.{self.model.unique_id.removeprefix('model.')}"
        statistics = facet.output_statistics_output_dataset.OutputStatisticsOutputDatasetFacet
        counted: dict[str, Any] = (
            {} if rows is None else {"outputStatistics": statistics(rowCount=rows, producer=PRODUCER)}
        )
        # A view of a stream is there as soon as the run has made it.
        knows = what in ("RUNNING", "COMPLETE")
        return event.RunEvent(
            eventType=event.RunState[what],
            eventTime=datetime.now(timezone.utc).isoformat(),
            producer=PRODUCER,
            run=event.Run(self._id, of_run),
            job=event.Job(_namespace(), name, of_job),
            inputs=[event.InputDataset(d.namespace, d.name, facets=self._facets(d, knows)) for d in self.inputs],
            outputs=[
                event.OutputDataset(d.namespace, d.name, facets=self._facets(d, knows), outputFacets=counted)
                for d in self.outputs
            ],
        )

    def _parent(self) -> Any:
        """Parent of the run: dbt's invocation, and as root the run that has started dbt; None without an invocation."""
        from openlineage.client.facet_v2 import parent_run

        try:
            uuid.UUID(self.model.run_id)
        except ValueError:
            return None
        namespace, project = _namespace(), self.model.unique_id.split(".")[1]
        job, run = f"dbt-run-{project}", self.model.run_id
        given = (os.environ.get(name, "").split("/") for name in PARENTS)
        above, its_job, its_run = next((parts for parts in given if len(parts) == 3), (namespace, job, run))
        return parent_run.ParentRunFacet(
            run=parent_run.Run(run),
            job=parent_run.Job(namespace, job),
            root=parent_run.Root(parent_run.RootRun(its_run), parent_run.RootJob(above, its_job)),
            producer=PRODUCER,
        )

    def _facets(self, dataset: Dataset, knows: bool) -> dict[str, Any]:
        """Facets of a dataset: its columns, and the folder of a table's files; empty if Spark can't tell them."""
        facets: dict[str, Any] = {}
        if not knows:
            return facets
        try:
            from openlineage.client.facet_v2 import schema_dataset, symlinks_dataset

            if dataset.view is not None and self.engine.exists(dataset.view):
                fields = [schema_dataset.SchemaDatasetFacetFields(n, t) for n, t in self.engine.described(dataset.view)]
                facets["schema"] = schema_dataset.SchemaDatasetFacet(fields, producer=PRODUCER)
            there = dataset.table if dataset.table and self.engine.exists(dataset.table) else None
            if there and (location := Facts.of(self.engine, there).location):
                # Not the dataset's name: compactions and corrections put rows into other folders.
                link = symlinks_dataset.Identifier(*in_files(location), type="LOCATION")
                facets["symlinks"] = symlinks_dataset.SymlinksDatasetFacet([link], producer=PRODUCER)
        except Exception as failure:  # the end of a run is to be told, with or without them
            self._warn(f"OpenLineage is told nothing of the columns of {dataset.name}: {failure}")
        return facets


def client(warn: Callable[[str], None]) -> OpenLineageClient | None:
    """OpenLineage's client, as it is configured; None if it isn't, or can't be made."""
    why = configured()
    if why is None:
        return None
    try:
        from openlineage.client import OpenLineageClient
    except ImportError:
        warn(f"{why} configures OpenLineage, and its client is not installed: no run is told of\n  {_EXTRA}")
        return None
    try:
        made = OpenLineageClient()
        console = logging.getLogger("openlineage.client.transport.console")
        if made.transport.kind == "console" and not console.isEnabledFor(logging.INFO):
            # Its lines are of Python's logging, which dbt doesn't show.
            console.setLevel(logging.INFO)
            console.addHandler(logging.StreamHandler())
        return made
    except Exception as failure:  # the client raises exceptions of any class for a wrong configuration
        warn(f"{why} configures OpenLineage, and its client can't be made: {failure}")
        return None


def _namespace() -> str:
    return os.environ.get(NAMESPACE) or "dbt"


@dataclass(frozen=True)
class Dataset:
    """A table, a folder of files or a topic.

    Attributes:
        table: its name in Spark's catalog, as SQL; None if it is no table.
        view: the name under which Spark has its columns; None if there is none.
    """

    namespace: str
    name: str
    table: str | None = None
    view: str | None = None


def catalog_namespace(method: str, host: str | None, port: int | None, settings: Mapping[str, str]) -> str:
    """OpenLineage's namespace of the catalog's tables: the metastore's, the server's or the warehouse's address."""
    metastore = urlsplit(settings.get(METASTORES, "").split(",")[0])
    if metastore.hostname:
        return f"hive://{metastore.hostname}:{metastore.port or 9083}"
    if method != "session":
        return f"spark://{host}:{port}"
    namespace, name = in_files(settings.get(WAREHOUSE, ""))
    return f"{namespace}:{name}" if namespace == "file" else f"{namespace}/{name}"


def table(namespace: str, relation: str, view: str | None = None) -> Dataset:
    """A table or view of the catalog; `view` is the name under which Spark has its columns, None for its own."""
    return Dataset(namespace, relation.replace("`", ""), relation, view or relation)


def topic(servers: str, name: str, view: str | None = None) -> Dataset:
    """A topic of Kafka, whose namespace is the first one of its servers."""
    first = servers.split(",")[0].strip().rpartition("//")[2]
    return Dataset(f"kafka://{first}" + ("" if ":" in first else ":9092"), name, view=view)


def in_files(path: str) -> tuple[str, str]:
    """Namespace and name of a file or folder."""
    parts = urlsplit(path_of(path))
    scheme = "s3" if parts.scheme in ("s3a", "s3n") else parts.scheme
    name = parts.path.rstrip("/") or "/"
    if scheme in ("", "file"):
        return "file", name
    login, _, host = parts.netloc.rpartition("@")
    host = host if ":" in login else parts.netloc  # Azure has a container before the @
    return f"{scheme}://{host}", name.lstrip("/") if scheme in ("s3", "gs") and name != "/" else name


def of_source(namespace: str, source: StreamSource) -> list[Dataset]:
    """Datasets of a stream's source: a table, a folder, or each topic."""
    if names := source.topics:
        return [topic(source.brokers, name, source.view) for name in names]
    if "path" in source.reader:
        return [Dataset(*in_files(str(source.reader["path"])), view=source.view)]
    return [table(namespace, source.relation, source.view)]
