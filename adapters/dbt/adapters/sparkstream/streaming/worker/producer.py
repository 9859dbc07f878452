"""Sends what a streaming model appends to its table to a topic of Kafka as well.

Runs beside Spark's driver, so it imports nothing of this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TABLE_HEADER = "sparkstream_table"
"""The header that tells a table from earlier tables of the same name."""

BATCH_HEADER = "sparkstream_batch"
"""The header with the number of the micro-batch."""

NOT_SENT = "can't send rows to the topic"
"""How the error begins where Kafka doesn't take them."""


class Producer:
    """Sends the rows of a micro-batch when they are in the table.

    A run that is killed while it sends leaves some of them in the topic. The next run sends them all again, with the
    same headers.

    Args:
        options: the options of Spark's Kafka sink, the topic among them.
        key: what the key is, as SQL over the columns of the model.
        value: what the value is.
        generation: the table that the rows are in, for a header.

    Attributes:
        value: as given.
    """

    def __init__(self, options: dict[str, str], key: str, value: str, generation: str) -> None:
        self._options = options
        self._key = key
        self.value = value
        self._generation = generation

    def send(self, rows: DataFrame, batch: int) -> None:
        """Sends all rows of a micro-batch, and returns when Kafka has them.

        Raises:
            RuntimeError: Kafka hasn't taken all of them.
        """
        records = rows.selectExpr(
            f"{self._key} AS key",
            f"{self.value} AS value",
            f"array({_header(TABLE_HEADER, self._generation)}, {_header(BATCH_HEADER, str(batch))}) AS headers",
        )
        try:
            records.write.format("kafka").options(**self._options).save()
        except Exception as error:
            raise RuntimeError(f"{NOT_SENT} {self._options['topic']}: {error}") from None  # the error is in the text


def _header(name: str, value: str) -> str:
    return f"named_struct('key', '{name}', 'value', CAST('{value}' AS BINARY))"
