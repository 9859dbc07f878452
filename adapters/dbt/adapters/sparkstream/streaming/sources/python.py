"""Data sources that are classes in Python (`pyspark.sql.datasource`), registered in Spark by module and class."""

from __future__ import annotations

import importlib
import sys
import uuid
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dbt.adapters.sparkstream.sql.core.errors import did_you_mean
from dbt.adapters.sparkstream.streaming.refusals import StreamingError
from dbt.adapters.sparkstream.streaming.sources.source import StreamSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA_SOURCE = "data_source"
"""Key of a Python data source, in place of `format`."""

_STREAM_READERS = ("streamReader", "simpleStreamReader")
"""Methods of a class, one of which returns the reader of a stream."""


class PythonClass(StreamSource):
    """A class in Python that Spark reads from."""

    batch_advice = "give the class a method reader, beside the one for streams"

    @property
    def name(self) -> str:
        """The module and the class."""
        return str(self.reader[DATA_SOURCE])

    def _format(self, spark: SparkSession) -> str:
        """Registers the class in a session, and returns its name there.

        Modules of the project go to Spark as they are. Others have to be installed where Spark's Python is.
        """
        from pyspark import cloudpickle

        found = _class(self.name, self.project)
        for module in _of_project(self.project):
            cloudpickle.register_pickle_by_value(module)
        # Spark 4.3 takes a data source that any session has read from for a built-in, and refuses its name afterwards.
        name = f"{found.name()}_{uuid.uuid4().hex}"
        spark.dataSource.register(type(found.__name__, (found,), {"name": classmethod(lambda cls: name)}))
        return name


def _class(place: str, project: Path | None) -> Any:
    from pyspark.sql.datasource import DataSource

    path, _, name = place.partition(":")
    module = _module(path, place, project)
    if not hasattr(module, name):
        sources = [n for n, value in vars(module).items() if isinstance(value, type) and issubclass(value, DataSource)]
        hint = did_you_mean(name, sources, "write the name of the class behind the colon")
        raise StreamingError(f"{DATA_SOURCE}: {place}: the module {path} has no {name}\n  {hint}")
    found = getattr(module, name)
    if not (isinstance(found, type) and issubclass(found, DataSource)):
        raise StreamingError(
            f"{DATA_SOURCE}: {place} is no data source of Spark\n"
            "  derive the class from pyspark.sql.datasource.DataSource"
        )
    if all(getattr(found, method) is getattr(DataSource, method) for method in _STREAM_READERS):
        raise StreamingError(
            f"{DATA_SOURCE}: {place} reads no stream\n"
            f"  give the class a method {_STREAM_READERS[0]}, or {_STREAM_READERS[1]}"
        )
    return found


def _module(path: str, place: str, project: Path | None) -> ModuleType:
    if project is not None and str(project) not in sys.path:
        sys.path.append(str(project))
        importlib.invalidate_caches()
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{path}.".startswith(f"{error.name}."):
            raise StreamingError(f"{DATA_SOURCE}: {place}: {path} needs a module that isn't there: {error}") from error
        raise StreamingError(
            f"{DATA_SOURCE}: {place}: there is no module {error.name}\n"
            "  put it into the folder of dbt_project.yml, or install it beside dbt and on Spark's machines"
        ) from error
    except Exception as error:
        raise StreamingError(f"{DATA_SOURCE}: {place}: {path} can't be imported: {error!r}") from error


def _of_project(project: Path | None) -> list[ModuleType]:
    """Imported modules from the project's folder, but not from an environment within it."""
    if project is None:
        return []
    folder, found = project.resolve(), []
    for module in list(sys.modules.values()):
        if module.__name__ != "__main__" and (name := getattr(module, "__file__", None)):
            file = Path(name).resolve()
            if file.is_relative_to(folder) and "site-packages" not in file.parts:
                found.append(module)
    return found
