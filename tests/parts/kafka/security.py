"""A certificate for a broker, who may log in to it, and what a client has to say."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from dbt.adapters.sparkstream.spark.java import find_java

USER = "ada"
STORE_PASSWORD = "st0rePass"

_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True)
class Secrets:
    """Files of a broker and of its clients.

    Args:
        folder: where the files are.
        password: what `ada` logs in with.
    """

    folder: Path
    password: str

    @classmethod
    def make(cls, folder: Path, password: str) -> Secrets:
        """Makes a certificate of this machine, a store that trusts it, and one that trusts another one alone."""
        folder.mkdir(parents=True)
        made = cls(folder, password)
        made._certificate("broker", "trusted")
        made._certificate("other", "untrusted")
        return made

    @property
    def of_the_broker(self) -> dict[str, object]:
        """Settings of a broker whose listener `SECURE` has TLS and passwords."""
        return {
            "ssl.keystore.location": self.folder / "broker.p12",
            "ssl.keystore.password": STORE_PASSWORD,
            "ssl.key.password": STORE_PASSWORD,
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.secure.scram-sha-512.sasl.jaas.config": f"{_SCRAM} required;",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL",
        }

    @property
    def scram(self) -> str:
        """Who may log in, for `kafka-storage format`."""
        return f"SCRAM-SHA-512=[name={USER},password={self.password}]"

    def options(self, address: str, password: str | None = None, trust: str = "trusted") -> dict[str, str]:
        """Options of a source or a sink.

        Args:
            address: the listener.
            password: as it is in the options; the right one unless it is given.
            trust: which certificates the client trusts.
        """
        given = self.password if password is None else password
        return {
            "kafka.bootstrap.servers": address,
            "kafka.security.protocol": "SASL_SSL",
            "kafka.sasl.mechanism": "SCRAM-SHA-512",
            "kafka.sasl.jaas.config": f'{_SCRAM} required username="{USER}" password="{given}";',
            "kafka.ssl.truststore.location": str(self.folder / f"{trust}.p12"),
            "kafka.ssl.truststore.password": STORE_PASSWORD,
        }

    def _certificate(self, name: str, store: str) -> None:
        keytool = find_java().executable.resolve().with_name("keytool")
        common = ("-alias", name, "-storetype", "PKCS12", "-storepass", STORE_PASSWORD)
        key, certificate = self.folder / f"{name}.p12", self.folder / f"{name}.pem"
        kind = ("-keyalg", "RSA", "-dname", "CN=127.0.0.1", "-ext", "SAN=IP:127.0.0.1", "-validity", "30")
        for command in (
            ("-genkeypair", *common, *kind, "-keystore", key),
            ("-exportcert", *common, "-rfc", "-keystore", key, "-file", certificate),
            ("-importcert", *common, "-noprompt", "-keystore", self.folder / f"{store}.p12", "-file", certificate),
        ):
            subprocess.run([keytool, *command], check=True, capture_output=True)
