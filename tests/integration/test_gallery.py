"""The gallery is what its generator writes."""

from __future__ import annotations

from tests.integration.gallery import GALLERY, files
from tests.integration.targets import ROOT


def test_gallery_files_are_as_generated() -> None:
    texts = files()
    there = {path for path in GALLERY.rglob("*") if path.is_file()}
    assert there == {path for path in texts if path.is_relative_to(GALLERY)}
    changed = [path.relative_to(ROOT).as_posix() for path, text in texts.items() if path.read_text() != text]
    assert not changed, "run: python -m tests.integration.gallery"
