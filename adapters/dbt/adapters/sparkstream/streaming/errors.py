"""What goes wrong with a streaming model."""

from __future__ import annotations

REBUILD = "run it with --full-refresh to make the table anew from all rows that the sources have now"


class StreamingError(Exception):
    """A fault of a streaming model: what is wrong, and in further lines what to do."""


DAMAGES = (
    "[BATCH_METADATA_NOT_FOUND]",
    "[CANNOT_LOAD_STATE_STORE",
    "[CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED]",
    "[MALFORMED_LOG_FILE]",
    "[STREAMING_CHECKPOINT_MISSING_METADATA_FILE]",
    "Incomplete log file",
    "does not exist. Please check if the checkpoint",
)
"""What Spark says of a checkpoint of which files are missing or half there."""


UNREADABLE = "[FAILED_READ_FILE"
"""How Spark begins to say that it can't read a file, be it of a source or of the checkpoint."""


def explained(error: StreamingError, checkpoint: str) -> StreamingError:
    """An error of a run, with words about what to do where Spark couldn't go on with a file."""
    text = str(error)
    told = next((line for line in text.splitlines() if UNREADABLE in line), "")
    if any(words in text for words in DAMAGES) or (told and checkpoint in told):
        return StreamingError(
            f"the checkpoint in {checkpoint} is damaged: files of it are missing, or were cut off\n"
            "  put its folder back from a copy, with all files of one moment, if there is one\n"
            f"  else {REBUILD}\n"
            f"  Spark says: {(told or text).splitlines()[0]}"
        )
    if not told:
        return error
    return StreamingError(
        f"a file can't be read: {told[told.index(UNREADABLE) :]}\n"
        "  mend it, or put a right one in its place under the same name\n"
        "  or, if its rows may be left out, remove it and write config(on_source_change='accept')"
    )
