"""A certificate for a server of a test."""

from __future__ import annotations

import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def new_certificate(directory: Path, *names: str, days: float = 1) -> Path:
    """A key and a certificate of itself for these names, in one file. `days`: until it expires."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    name, day = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])]), datetime.timedelta(days=1)
    built = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    built = built.not_valid_before(now - day).not_valid_after(now + days * day)
    built = built.add_extension(
        x509.SubjectAlternativeName([x509.DNSName(each) for each in names]), critical=False
    )
    signed = built.sign(key, hashes.SHA256())
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    held = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    file = directory / "both.pem"
    file.write_bytes(held + signed.public_bytes(pem))
    return file
