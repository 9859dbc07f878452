"""Servers that know people: a directory (OpenLDAP's slapd) and a Kerberos realm (MIT's krb5kdc), both Debian's."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lib.support import PATIENCE, free_port

PATH = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
"""Where programs are: Debian has servers off the PATH of others than root."""
PASSWORD = "it's ann's"

_SLAPD = """\
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile {folder}/pid
database mdb
suffix "dc=example,dc=org"
directory {folder}/data
"""
_PEOPLE = f"""\
dn: dc=example,dc=org
objectClass: dcObject
objectClass: organization
dc: example
o: example

dn: ou=people,dc=example,dc=org
objectClass: organizationalUnit
ou: people

dn: uid=ann,ou=people,dc=example,dc=org
objectClass: inetOrgPerson
uid: ann
cn: Ann
sn: Ann
userPassword: {PASSWORD}
"""
_KRB5 = """\
[libdefaults]
  default_realm = EXAMPLE.ORG
  dns_lookup_kdc = false
  rdns = false
  dns_canonicalize_hostname = false
  udp_preference_limit = 1
[realms]
  EXAMPLE.ORG = {{
    kdc = 127.0.0.1:{port}
  }}
[domain_realm]
  localhost = EXAMPLE.ORG
"""
_KDC = """\
[kdcdefaults]
  kdc_listen = 127.0.0.1:{port}
  kdc_tcp_listen = 127.0.0.1:{port}
[realms]
  EXAMPLE.ORG = {{
    database_name = {folder}/principal
    key_stash_file = {folder}/stash
    acl_file = {folder}/acl
  }}
"""


def program(name: str) -> str | None:
    """The path of a program, or None."""
    return shutil.which(name, path=PATH)


def has_kerberos() -> bool:
    """Whether all programs of a realm are here."""
    return all(program(name) for name in ("krb5kdc", "kdb5_util", "kadmin.local", "kinit"))


@contextmanager
def _running(command: list[str], port: int, folder: Path, environ: Mapping[str, str] | None = None) -> Iterator[None]:
    """Runs a server that stays in the foreground, from the moment when it listens."""
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environ or {})},
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


@contextmanager
def directory(folder: Path) -> Iterator[str]:
    """An LDAP server with one person, `ann`; gives its address."""
    slapd, port = program("slapd"), free_port()
    assert slapd
    (folder / "data").mkdir(parents=True)
    (folder / "slapd.conf").write_text(_SLAPD.format(folder=folder))
    add = [slapd, "-T", "add", "-f", str(folder / "slapd.conf")]
    subprocess.run(add, input=_PEOPLE, text=True, check=True)
    address = f"ldap://127.0.0.1:{port}"
    with _running([slapd, "-f", str(folder / "slapd.conf"), "-h", address, "-d", "0"], port, folder):
        yield address


@dataclass(frozen=True)
class Realm:
    """A Kerberos realm, EXAMPLE.ORG.

    Attributes:
        environ: variables of whoever takes part.
        keytab: the keys of `hive/localhost` and of `ann`.
    """

    environ: Mapping[str, str]
    keytab: Path


@contextmanager
def realm(folder: Path) -> Iterator[Realm]:
    """A Kerberos server with the principals `ann` and `hive/localhost`."""
    port = free_port()
    folder.mkdir(parents=True)
    (folder / "krb5.conf").write_text(_KRB5.format(port=port))
    (folder / "kdc.conf").write_text(_KDC.format(port=port, folder=folder))
    (folder / "acl").touch()
    environ = {
        "KRB5_CONFIG": str(folder / "krb5.conf"),
        "KRB5_KDC_PROFILE": str(folder / "kdc.conf"),
        "KRB5CCNAME": f"FILE:{folder / 'tickets'}",
    }
    keytab = folder / "keytab"

    def do(name: str, *arguments: str) -> None:
        found = program(name)
        assert found
        subprocess.run([found, *arguments], check=True, env={**os.environ, **environ}, stdout=subprocess.DEVNULL)

    do("kdb5_util", "create", "-s", "-P", "of the database", "-r", "EXAMPLE.ORG")
    for principal in ("ann", "hive/localhost"):
        do("kadmin.local", "-r", "EXAMPLE.ORG", "addprinc", "-randkey", principal)
        do("kadmin.local", "-r", "EXAMPLE.ORG", "ktadd", "-k", str(keytab), principal)
    kdc = program("krb5kdc")
    assert kdc
    with _running([kdc, "-n"], port, folder, environ):
        yield Realm(environ, keytab)
