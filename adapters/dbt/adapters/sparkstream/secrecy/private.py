"""Folders and files that nobody else on the machine reads or writes, whatever the umask is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class NotOurs(OSError):
    """A folder or file that another user owns or can write."""

    def __init__(self, path: Path, what: str) -> None:
        advice = "remove it, or choose another folder"
        super().__init__(0, f"{path} {what}, so what is in it can't be trusted; {advice}")


def make_folder(folder: Path) -> None:
    """Makes a folder that only this user can enter; one that is there becomes so.

    Raises:
        NotOurs: another user owns the folder, or it is a link.
        OSError: it can't be made.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotOurs(folder, "is a link, and no folder")
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise NotOurs(folder, "is another user's")
    if stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(0o700)


def check_file(path: Path) -> None:
    """Checks that nobody else has written a file from which decisions follow; one that isn't there passes.

    Raises:
        NotOurs: another user owns the file or can write it, or it is a link.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise NotOurs(path, "is a link")
    if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or found.st_mode & 0o022):
        raise NotOurs(path, "can be written by another user")


def read_secret(path: Path) -> str:
    """The text of a file that only this user can read and write, without blanks around it.

    Raises:
        OSError: others can read it, it is another user's or a link, or it can't be read.
    """
    check_file(path)
    handle = os.open(path, os.O_RDONLY | _NO_LINK)
    with open(handle, encoding="utf-8") as file:
        if stat.S_IMODE(os.fstat(handle).st_mode) & 0o077:
            raise OSError(0, f"others can read it: chmod 600 {path}")
        return file.read().strip()


def opened(path: Path, flags: int = os.O_WRONLY | os.O_TRUNC) -> int:
    """Opens a file to write it; a link is not followed.

    Raises:
        OSError: it is a link, or can't be opened.
    """
    handle = os.open(path, flags | os.O_CREAT | _NO_LINK, 0o600)
    if hasattr(os, "fchmod"):
        os.fchmod(handle, 0o600)
    return handle


def write(path: Path, text: str) -> None:
    """Writes a file in place of what is there."""
    with open(opened(path), "w", encoding="utf-8") as file:
        file.write(text)
