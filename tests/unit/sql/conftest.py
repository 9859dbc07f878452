from __future__ import annotations

import pytest

from dbt.adapters.sparkstream.sql.core.source import Source
from dbt.adapters.sparkstream.sql.core.tokens import Span


@pytest.fixture(autouse=True)
def no_stale_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails where an edit reads a piece that another edit has taken in: what is written there is the user's text."""
    render = Source.render

    def checked(self: Source, span: Span | None = None, *, behind: bool = False) -> str:
        if span is not None and span[0] < span[1]:
            taken = [edit for edit in self._edited if edit[0] <= span[0] and span[1] <= edit[1] and edit != span]
            assert not taken, f"{self.text[slice(*span)]!r} is read within {self.text[slice(*taken[0])]!r}"
        return render(self, span, behind=behind)

    monkeypatch.setattr(Source, "render", checked)
