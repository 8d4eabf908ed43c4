"""Certificates for servers and clients of tests, and a server that wants one of its clients."""

from __future__ import annotations

import datetime
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web
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


@asynccontextmanager
async def strict_agent(own: Path, *wanted: Path) -> AsyncIterator[tuple[str, list[str]]]:
    """It takes one of these certificates alone. Its address, and the serial numbers it saw."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    for each in wanted:
        context.load_verify_locations(str(each))
    context.load_cert_chain(own)
    context.verify_mode = ssl.CERT_REQUIRED
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        assert request.transport is not None
        found: Any = request.transport.get_extra_info("peercert")
        seen.append(found["serialNumber"])
        return web.Response(text="hello", headers={"Connection": "close"})

    app = web.Application()
    app.router.add_get("/", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
        yield f"https://localhost:{runner.addresses[0][1]}/", seen
    finally:
        await runner.cleanup()
