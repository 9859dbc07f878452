"""Pieces of a template's output, and the places that they come from, as dbt renders it."""

from __future__ import annotations

import pytest
from dbt.clients.jinja import get_rendered

from dbt.adapters.sparkstream.compiling import renderings
from dbt.adapters.sparkstream.sql.core.traced import Traced

CONTEXT = {
    "config": lambda **_: "",
    "ref": lambda name: f"db.{name}",
    "columns": lambda: "a,\n  s",
    "upper": lambda caller: caller().upper(),
}
TEMPLATES = {
    "nothing of Jinja": "select a\nfrom t",
    "a macro of several lines": "{{ config(x=1) }}\n\nselect {{ columns() }},\n  prise\nfrom {{ ref('t') }} t, t\n",
    "a loop": "{% for c in ['a', 'b'] -%}\nsum({{ c }}) as {{ c }}_x{% if not loop.last %},{% endif %}\n{% endfor %}",
    "constants": "select {{ 'a' }}, {{ 'a' }}, a, {{ 1 }}, a",
    "comments and raw text": "a {# {{ x }} #} b\n{% raw %}{{ c }}{% endraw %} d",
    "an expression over lines": "from {{\n ref(\n 't') ~\n '' }} as t\nwhere x",
    "a block": "{% set x %}hidden{% endset %}a {% call upper() %}b {{ ref('t') }}\n{% endcall %} c {{ x }}",
    "alternatives": "{% if false %}a{% else %}b{% endif %}\n{%- filter upper %} c {% endfilter %}d",
}


def traced(template: str) -> Traced:
    renderings.install()
    with renderings.recording() as notes:
        output = get_rendered(template, CONTEXT)
    return renderings.traced(template, output, notes)


def pieces(found: Traced, template: str) -> list[tuple[str, str, bool]]:
    """Each piece of the output, what of the template it comes from, and whether it is a copy."""
    ends = [*(start for start, _, _ in found.pieces[1:]), len(found.text)]
    return [
        (found.text[start:end], template[slice(*span)], copied)
        for (start, span, copied), end in zip(found.pieces, ends, strict=True)
    ]


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_piece_is_known(name: str) -> None:
    template = TEMPLATES[name]
    found = pieces(traced(template), template)
    for text, written, copied in found:
        if copied:
            assert text == written
        else:
            assert written.startswith(("{{", "{% call", "{%- filter"))
            assert written.endswith(("}}", "%}"))


def test_pieces() -> None:
    template = TEMPLATES["a loop"]
    loop = [("sum(", "sum(", True), ("a", "{{ c }}", False), (") as ", ") as ", True), ("a", "{{ c }}", False)]
    again = [(text.replace("a", "b") if not copied else text, written, copied) for text, written, copied in loop]
    end = [("_x", "_x", True), (",", ",", True), ("\n", "\n", True)]
    assert pieces(traced(template), template) == [*loop, *end, *again, end[0], end[2]]


def test_the_same_text_twice_in_a_line() -> None:
    found = traced("x {{ 1 }}, a, {{ 2 }}, a, {{ 3 }}")
    assert found.text == "x 1, a, 2, a, 3"
    assert [found.exact(found.text.index("a")), found.exact(found.text.rindex("a"))] == [11, 23]


def test_without_dbts_environment() -> None:
    """Output that nobody has recorded may come from anywhere in the template."""
    found = renderings.traced("select {{ x }}", "select 1", [])
    assert found.exact(0) is None
    assert found.place((0, 1)) == (0, 14)


def test_nothing_is_recorded_otherwise() -> None:
    renderings.install()
    with renderings.recording() as notes:
        pass
    assert get_rendered("{{ 1 }}", {}) == "1"
    assert notes == []
