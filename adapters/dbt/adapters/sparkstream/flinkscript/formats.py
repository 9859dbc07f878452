"""Options of formats: a Flink script's options as Spark's options."""

from __future__ import annotations

from collections.abc import Mapping


def csv_options(options: Mapping[str, str]) -> dict[str, str]:
    """Spark's options for Flink's CSV: quotes are doubled, and what is malformed is an error."""
    given = {key.removeprefix("csv."): value for key, value in options.items() if key.startswith("csv.")}
    lenient = given.get("ignore-parse-errors", "").lower() == "true"
    found = {"mode": "PERMISSIVE" if lenient else "FAILFAST", "escape": given.get("escape-character", '"')}
    if "field-delimiter" in given:
        found["sep"] = given["field-delimiter"].replace("\\t", "\t")
    if given.get("disable-quote-character", "").lower() == "true":
        found["quote"] = ""
    elif "quote-character" in given:
        found["quote"] = given["quote-character"]
        found["escape"] = given.get("escape-character", given["quote-character"])
    if "null-literal" in given:
        found["nullValue"] = given["null-literal"]
    if given.get("allow-comments", "").lower() == "true":
        found["comment"] = "#"
    return found
