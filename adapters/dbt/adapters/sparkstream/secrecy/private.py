"""Folders and files that nobody else on the machine reads or writes, whatever the umask is."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


class NotOurs(OSError):
    """Error of a folder or file that another user owns or can write."""

    def __init__(self, path: Path, what: str, advice: str = "remove it, or choose another folder") -> None:
        super().__init__(0, f"{path} {what}, so what is in it can't be trusted; {advice}")


def make_folder(folder: Path) -> None:
    """Makes a folder that only this user can enter, and missing folders above it likewise.

    A folder that exists is closed to others, unless they may have put files into it.

    Raises:
        NotOurs: another user owns the folder or can write it, or it is a link.
        OSError: it can't be made.
    """
    try:
        if not folder.parent.exists():
            make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
    except PermissionError as error:
        raise _closed(folder, error) from error
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise NotOurs(folder, "is a link, and no folder")
    if hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        raise NotOurs(folder, "is another user's")
    if found.st_mode & 0o077:
        folder.chmod(0o700)
        closed = not folder.lstat().st_mode & 0o077  # Windows' file systems have no modes, and stay open
        if _others_write(found) and closed and any(folder.iterdir()):
            folder.chmod(stat.S_IMODE(found.st_mode))
            advice = f"remove it, or look at it and write: chmod 700 {folder}"
            raise NotOurs(folder, "can be written by another user", advice)


def _closed(folder: Path, error: PermissionError) -> PermissionError:
    """The refusal to make a folder, which names the folder of another user that it was to lie in."""
    for above in folder.parents:
        with suppress(OSError):
            if not hasattr(os, "geteuid") or above.stat().st_uid == os.geteuid():
                return error
            what = "it is another user's; run as that user, or use a folder of your own"
            return PermissionError(errno.EACCES, what, str(above))
    return error


def _others_write(found: os.stat_result) -> bool:
    """True if more users than the owner may write; a group with the owner's own number has nobody else in it."""
    return bool(found.st_mode & (0o002 if found.st_gid == found.st_uid else 0o022))


def check_file(path: Path) -> None:
    """Checks the owner and the rights of a file that decisions follow from; a missing file passes.

    Raises:
        NotOurs: another user owns the file or can write it, or it is a link.
    """
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise NotOurs(path, "is a link")
    if hasattr(os, "geteuid") and (found.st_uid != os.geteuid() or _others_write(found)):
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


def opened(path: Path, flags: int = os.O_WRONLY) -> int:
    """Opens a file to write it, of which only this user sees the content; a link is not followed.

    Args:
        path: the file.
        flags: flags of `os.open`; without O_APPEND and O_RDWR, its old content goes.

    Raises:
        NotOurs: it is another user's, has further hard links, or is no regular file.
        OSError: it is a link, or can't be opened.
    """
    handle = os.open(path, flags | os.O_CREAT | _NO_LINK | getattr(os, "O_NONBLOCK", 0), 0o600)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise NotOurs(path, "is a file elsewhere, too, or none")
        if hasattr(os, "fchmod"):
            if found.st_uid != os.geteuid():
                raise NotOurs(path, "is another user's")
            os.fchmod(handle, 0o600)
        if not flags & (os.O_APPEND | os.O_RDWR):
            os.ftruncate(handle, 0)
    except BaseException:
        os.close(handle)
        raise
    return handle


def write(path: Path, text: str) -> None:
    """Replaces a file, or makes it."""
    with open(opened(path), "w", encoding="utf-8") as file:
        file.write(text)


def replace(path: Path, text: str, mode: int = 0o600) -> None:
    """Writes a file in one step: a reader sees the old text or the new one.

    Args:
        path: the file.
        text: its text.
        mode: who may read it, whatever the umask.

    Raises:
        OSError: it can't be written.
    """
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def is_below(folder: Path, path: Path) -> bool:
    """True if a file is in a folder, or in a folder below it; False behind a link that leads out of it."""
    return path.name != ".." and path.parent.resolve().is_relative_to(folder.resolve())


def write_below(folder: Path, name: str | Path, content: bytes) -> None:
    """Writes a file that everybody may read into a folder, which may have come with links in it.

    Raises:
        OSError: a link leads elsewhere, or the file can't be written.
    """
    path = folder / name
    if not is_below(folder, path):
        raise OSError(errno.ELOOP, "a link leads elsewhere", str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NO_LINK, 0o666), "wb") as file:
        file.write(content)
