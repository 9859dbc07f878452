"""Garbage: statements taken apart and put together wrongly. Each must be translated, or refused as a TranslationError.

    python -m tools.garbage --mutants 200000 --seed 1 --jobs 2
    python -m tools.garbage --seed 1 --only 4711

The second line shows one mutant of the first.
"""
