"""Operations on a stream: backfill, compaction, stop, left running."""
