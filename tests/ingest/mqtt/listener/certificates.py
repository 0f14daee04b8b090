"""Certificates of a test authority, for TLS."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


class Authority(NamedTuple):
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    file: Path


def authority(folder: Path) -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    made = _builder("Tests", key).issuer_name(_name("Tests"))
    constraint = x509.BasicConstraints(ca=True, path_length=0)
    certificate = made.add_extension(constraint, critical=True).sign(key, hashes.SHA256())
    file = folder / "ca.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return Authority(key, certificate, file)


def issued(ca: Authority, folder: Path, common_name: str, lasts: timedelta = DAY) -> dict[str, str]:
    """Files of a certificate for 127.0.0.1, under paho's names for them."""
    key = ec.generate_private_key(ec.SECP256R1())
    address = x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))])
    made = _builder(common_name, key, lasts).issuer_name(ca.certificate.subject)
    certificate = made.add_extension(address, critical=False).sign(ca.key, hashes.SHA256())
    file, key_file = folder / f"{common_name}.pem", folder / f"{common_name}.key"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return {"ca_certs": str(ca.file), "certfile": str(file), "keyfile": str(key_file)}


def _builder(
    common_name: str, key: ec.EllipticCurvePrivateKey, lasts: timedelta = DAY
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(common_name))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + lasts)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
