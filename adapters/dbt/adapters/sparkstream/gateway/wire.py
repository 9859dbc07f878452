"""Thrift's messages as bytes: a client's bytes are read message by message; only the statement in them is changed."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from TCLIService import TCLIService, ttypes
from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TMessageType, TType
from thrift.transport.TTransport import TMemoryBuffer, TTransportBase

Read = Callable[[int], bytes]
"""Reads a number of bytes from a client."""

MOST_BYTES = 100 << 20
"""Most bytes of a message, as in Spark's own server."""

_START, _OK, _BAD, _COMPLETE = 1, 2, 3, 5
"""Kinds of the messages of SASL's greeting, by their first byte."""
_LOGIN = struct.Struct("!BI")
_LENGTH = struct.Struct("!I")
_BINARY = 0x80
"""The first byte of a message in Thrift's binary protocol."""


class NoMessage(Exception):
    """Error of a client's bytes that are no message of Thrift's; the text says what is wrong."""


@dataclass(frozen=True)
class Message:
    """A call of a client.

    Attributes:
        data: its bytes.
        name: the method.
        number: the client's number for it.
        session: the bytes of the session's handle; empty but for ExecuteStatement.
        place: start and end of the statement in the bytes, with its length before it; None but for ExecuteStatement.
    """

    data: bytes
    name: str
    number: int
    session: bytes = b""
    place: tuple[int, int] | None = None

    @property
    def statement(self) -> str | None:
        """The SQL of ExecuteStatement; None of other calls, and of a text that isn't UTF-8."""
        if self.place is None:
            return None
        try:
            return self.data[self.place[0] + 4 : self.place[1]].decode("utf-8")
        except UnicodeDecodeError:
            return None

    def saying(self, statement: str) -> bytes:
        """The same call with another statement."""
        assert self.place is not None
        text = statement.encode("utf-8")
        return self.data[: self.place[0]] + _LENGTH.pack(len(text)) + text + self.data[self.place[1] :]

    def refused(self, why: str) -> bytes:
        """The answer to ExecuteStatement that the statement has failed."""
        status = ttypes.TStatus(ttypes.TStatusCode.ERROR_STATUS, sqlState="42000", errorCode=0, errorMessage=why)
        written = TMemoryBuffer()
        protocol = TBinaryProtocol(written)
        protocol.writeMessageBegin(self.name, TMessageType.REPLY, self.number)
        TCLIService.ExecuteStatement_result(ttypes.TExecuteStatementResp(status)).write(protocol)
        protocol.writeMessageEnd()
        return bytes(written.getvalue())


def session_handle(data: bytes) -> Any:
    """The handle of a session, from its bytes in a message."""
    handle = ttypes.TSessionHandle()
    handle.read(TBinaryProtocol(TMemoryBuffer(data)))
    return handle


class _Taken(TTransportBase):
    """Transport that reads a client's bytes and keeps them."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self.data = bytearray()

    def read(self, size: int) -> bytes:
        if len(self.data) + size > MOST_BYTES:
            raise NoMessage(f"a message of more than {MOST_BYTES >> 20} MB")
        data = self._read(size)
        self.data += data
        return data


class _Bytes(TBinaryProtocol):
    """Protocol that reads texts as bytes, as a handle isn't UTF-8."""

    def readString(self) -> bytes:
        data: bytes = self.readBinary()
        return data


def read_message(read: Read) -> Message:
    """The next message of Thrift's binary protocol.

    Raises:
        EOFError: the client has gone.
        NoMessage: these are no messages.
    """
    taken = _Taken(read)
    protocol = _Bytes(taken, strictRead=True, string_length_limit=MOST_BYTES)
    session, place = b"", None
    try:
        name, _, number = protocol.readMessageBegin()
        if name == b"ExecuteStatement":
            for field, kind in _fields(protocol):
                if (field, kind) != (1, TType.STRUCT):
                    protocol.skip(kind)
                    continue
                for part, of in _fields(protocol):
                    start = len(taken.data)
                    protocol.skip(of)
                    if (part, of) == (1, TType.STRUCT):
                        session = bytes(taken.data[start:])
                    elif (part, of) == (2, TType.STRING):
                        place = (start, len(taken.data))
        else:
            protocol.skip(TType.STRUCT)
    except (EOFError, OSError, NoMessage):
        raise
    except Exception as error:  # of the library, whatever the bytes are
        raise NoMessage(f"no message of Thrift's binary protocol: {error}") from error
    return Message(bytes(taken.data), name.decode("utf-8", "replace"), number, session, place)


def _fields(protocol: Any) -> Iterator[tuple[int, int]]:
    """Number and type of each field of a structure; the caller reads the value before the next field."""
    while True:
        _, kind, number = protocol.readFieldBegin()
        if kind == TType.STOP:
            return
        yield number, kind


@dataclass(frozen=True)
class Login:
    """A user's name and password, as SASL's PLAIN has them."""

    user: str
    password: str


class Plain:
    """Messages as they are, without a greeting (`auth: NOSASL`)."""

    login: Login | None = None

    def __init__(self, read: Read) -> None:
        self._read = read

    def message(self) -> Message:
        return read_message(self._read)

    @staticmethod
    def framed(data: bytes) -> bytes:
        return data


class Sasl:
    """Messages with their lengths, after a greeting with a user and a password (`auth: NONE`, LDAP, CUSTOM).

    Args:
        read: reads from the client.
        hand_on: forwards the greeting to Spark.

    Raises:
        NoMessage: the greeting isn't PLAIN, so that messages may be encrypted.
    """

    def __init__(self, read: Read, hand_on: Callable[[bytes], None]) -> None:
        self._read = read
        self._rest = b""
        way, said = b"", b""
        for expected in ((_START,), (_OK, _COMPLETE)):
            head = read(_LOGIN.size)
            kind, length = _LOGIN.unpack(head)
            if kind not in expected or length > 1 << 16:
                raise NoMessage("no greeting of SASL")
            said = read(length)
            way = way or said
            if way != b"PLAIN":
                raise NoMessage(f"the greeting {way[:20]!r}: the gateway takes NOSASL, and PLAIN")
            hand_on(head + said)
        _, user, password = ([*said.split(b"\0"), b"", b""])[:3]
        self.login = Login(user.decode("utf-8", "replace"), password.decode("utf-8", "replace"))

    def message(self) -> Message:
        return read_message(self._bytes)

    def _bytes(self, size: int) -> bytes:
        while len(self._rest) < size:
            (length,) = _LENGTH.unpack(self._read(_LENGTH.size))
            if length > MOST_BYTES:
                raise NoMessage(f"a message of more than {MOST_BYTES >> 20} MB")
            self._rest += self._read(length)
        data, self._rest = self._rest[:size], self._rest[size:]
        return data

    @staticmethod
    def framed(data: bytes) -> bytes:
        return _LENGTH.pack(len(data)) + data


def reader(client: socket.socket) -> Read:
    """A function that reads exactly as many bytes from a socket as it is called with."""
    file = client.makefile("rb")

    def read(size: int) -> bytes:
        data = file.read(size)
        if len(data) < size:
            raise EOFError
        return data

    return read


def greeted(client: socket.socket, hand_on: Callable[[bytes], None]) -> Plain | Sasl:
    """Reader of a client's messages, chosen by the first byte that the client sends.

    Raises:
        EOFError: the client has gone.
        NoMessage: it speaks another protocol.
    """
    first = client.recv(1, socket.MSG_PEEK)
    if not first:
        raise EOFError
    if first[0] == _BINARY:
        return Plain(reader(client))
    if first[0] == _START:
        return Sasl(reader(client), hand_on)
    raise NoMessage("neither Thrift's binary protocol nor a greeting of SASL; HTTP isn't taken")
