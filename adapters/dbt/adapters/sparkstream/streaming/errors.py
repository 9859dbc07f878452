"""What goes wrong with a streaming model."""

from __future__ import annotations

REBUILD = "run it with --full-refresh to make the table anew from all rows that the sources have now"


class StreamingError(Exception):
    """A fault of a streaming model: what is wrong, and in further lines what to do."""


DAMAGES = (
    "[BATCH_METADATA_NOT_FOUND]",
    "[CANNOT_LOAD_STATE_STORE",
    "[CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED]",
    "[FAILED_READ_FILE.FILE_NOT_EXIST]",
    "[MALFORMED_LOG_FILE]",
    "[STREAMING_CHECKPOINT_MISSING_METADATA_FILE]",
    "Incomplete log file",
    "does not exist. Please check if the checkpoint",
)
"""What Spark says of a checkpoint of which files are missing or half there."""


def of_checkpoint(error: StreamingError, checkpoint: str) -> StreamingError:
    """An error of a run, in other words where Spark couldn't go on with its checkpoint."""
    text = str(error)
    if not any(words in text for words in DAMAGES) or (".FILE_NOT_EXIST" in text and checkpoint not in text):
        return error
    return StreamingError(
        f"the checkpoint in {checkpoint} is damaged: files of it are missing, or were cut off\n"
        "  put its folder back from a copy, with all files of one moment, if there is one\n"
        f"  else {REBUILD}\n"
        f"  Spark says: {text.splitlines()[0]}"
    )
