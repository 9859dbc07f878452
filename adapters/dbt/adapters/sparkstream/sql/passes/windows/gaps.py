"""HOPs with time between their windows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from dbt.adapters.sparkstream.sql.core.errors import TranslationWarning
from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.windows import Hop, window_functions


def sparse_windows(tree: exp.Expr, source: Source, *, strict: bool) -> Iterator[TranslationWarning]:
    """Warns of the first HOP whose slide is longer than its size: rows between two windows are in no window.

    Flink has such windows too. More often, slide and size were mixed up.

    Args:
        strict: whether the hint has to be Flink SQL.
    """
    windows = ((f, f.window) for f in window_functions(tree))
    sparse = ((f, window) for f, window in windows if isinstance(window, Hop) and window.slide > window.size)
    for function, window in sorted(sparse, key=lambda found: source.span(found[0]))[:1]:
        slide, size = window.slide.words(), window.size.words()
        right = f"HOP(..., {window.size.sql()}, {window.slide.sql()})" if strict else f"hop(..., '{size}', '{slide}')"
        yield source.warning(
            source.span(function),
            f"hop(..., slide, size): the slide '{slide}' is longer than the size '{size}',"
            " so rows between two windows are in none",
            f"if you mean windows of {slide} every {size}, write {right}",
        )
