"""Reports of runs: progress, late rows, metrics, lineage."""
