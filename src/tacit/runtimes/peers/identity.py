"""Who a peer is: a key of its own, and a certificate that the others pin.

ECDSA P-256, self-signed, CA:FALSE. A peer is known by the SHA-256 of its certificate, compared after every
handshake and bound to its name; there is no authority and no trust on first use. TLS 1.3 only, both sides
authenticated. Certificates do not expire, and nobody looks at a clock: who is trusted is in the manifest, and
whoever is not any more is left out of the next one.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import re
import ssl
from collections.abc import Iterable
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tacit.errors import FileError, InputError

_EVER = datetime.datetime(1970, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59)  # RFC 5280: no end is known
_NO_CHECK_TIME = 0x200000  # OpenSSL's X509_V_FLAG_NO_CHECK_TIME, for which `ssl` has no name


def refuse_bad_name(name: str) -> None:
    """Refuse a name that could not be a file's, or not one word in a list."""
    if not re.fullmatch(r"\w[\w.-]{0,63}", name):
        raise InputError(f"{name!r} is no name for a member: use 1 to 64 letters, digits, dots and hyphens.")


def generate(name: str) -> tuple[bytes, bytes]:
    """Return a new private key and its certificate, both as PEM."""
    refuse_bad_name(name)
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    usage = x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=False, crl_sign=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_EVER[0])
        .not_valid_after(_EVER[1])
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return secret, certificate.public_bytes(serialization.Encoding.PEM)


def write_key(folder: str | Path, name: str) -> tuple[Path, Path]:
    """Write NAME.key (readable by its owner alone) and NAME.crt; never over one that is there.

    Return both paths: the key for `Agent`, the certificate for the `Member` in everybody's manifest.
    """
    refuse_bad_name(name)
    key_path, certificate_path = Path(folder) / f"{name}.key", Path(folder) / f"{name}.crt"
    for path in (key_path, certificate_path):
        if path.exists():
            raise FileError(f"{path}: is already there; a new key would make a new member.")
    key, certificate = generate(name)
    try:
        descriptor = os.open(key_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(key)
        certificate_path.write_bytes(certificate)
    except OSError as error:
        for path in (key_path, certificate_path):  # one without the other is no use, and would be in the way
            with contextlib.suppress(OSError):
                path.unlink()
        raise FileError(
            f"{folder}: a key cannot be written there ({error.strerror}); make room, or name another folder."
        ) from error
    return key_path, certificate_path


def der(pem: bytes | str) -> bytes:
    """Return a certificate's bytes."""
    try:
        certificate = x509.load_pem_x509_certificate(pem.encode() if isinstance(pem, str) else pem)
    except ValueError as error:
        raise InputError("a certificate cannot be read: it must be a PEM block.") from error
    return certificate.public_bytes(serialization.Encoding.DER)


def pin(certificate: bytes) -> bytes:
    """Return the SHA-256 of a certificate's bytes."""
    return hashlib.sha256(certificate).digest()


def context(key: Path, certificate: Path, trusted: Iterable[str], *, server: bool) -> ssl.SSLContext:
    """Return a TLS context that speaks 1.3 only, and only with the holders of the *trusted* certificates."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname = False  # the pin says more than a host name
    made.verify_mode = ssl.CERT_REQUIRED
    made.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN | ssl.VerifyFlags(_NO_CHECK_TIME)
    made.load_cert_chain(certificate, key)
    made.load_verify_locations(cadata="\n".join(trusted))
    if server:
        made.num_tickets = 0
    return made
