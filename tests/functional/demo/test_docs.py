"""The walk-through shows the models as they are."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "examples" / "flights" / "README.md").read_text()
MODELS = {path.stem: path.read_text() for path in (ROOT / "examples" / "flights" / "models").glob("*.sql")}


def test_sql_on_the_page_is_in_a_model() -> None:
    blocks = re.findall(r"```sql\n(.*?)\n```", PAGE, re.DOTALL)
    assert blocks
    assert [block for block in blocks if not any(block in model for model in MODELS.values())] == []


def test_every_model_is_on_the_page() -> None:
    table = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert sorted(table) == sorted(MODELS)
