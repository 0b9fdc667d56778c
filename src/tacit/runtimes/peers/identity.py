"""Who a peer is: a key of its own, and a certificate that the others pin.

ECDSA P-256, self-signed, CA:FALSE. A peer is known by the SHA-256 of its certificate, compared after every
handshake and bound to its name; there is no authority and no trust on first use. TLS 1.3 only, both sides
authenticated. Links look at no clock: who is trusted is in the manifest, and whoever is not any more is left out of
the next one. A certificate may have a last day, which is looked at before a run (`tacit.federation.expiry`).
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import itertools
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
from tacit.runtimes.peers.keys import passphrase_for, read_passphrase, root_of, written

_ALWAYS = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
NEVER = datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)
"""When a certificate ends that has no last day: RFC 5280."""
_NO_CHECK_TIME = 0x200000  # OpenSSL's X509_V_FLAG_NO_CHECK_TIME, for which `ssl` has no name


def refuse_bad_name(name: str) -> None:
    """Refuse a name that could not be a file's, or not one word in a list."""
    if not re.fullmatch(r"\w[\w.-]{0,63}", name):
        raise InputError(f"{name!r} is no name for a member: use 1 to 64 letters, digits, dots and hyphens.")


def generate(name: str, *, until: datetime.datetime | None = None) -> tuple[ec.EllipticCurvePrivateKey, bytes]:
    """Return a new private key, and its certificate as PEM; it is good *until* a moment, or for ever."""
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
        .not_valid_before(_ALWAYS)
        .not_valid_after(until or NEVER)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    return key, certificate.public_bytes(serialization.Encoding.PEM)


def write_key(
    folder: str | Path,
    name: str,
    *,
    passphrase_file: str | Path | None = None,
    until: datetime.datetime | None = None,
    follows: Path | None = None,
) -> tuple[Path, Path]:
    """Write NAME.key (readable by its owner alone) and NAME.crt; never over one that is there.

    Return both paths: the key for `Agent`, the certificate for the `Member` in everybody's manifest. The key is
    locked with the passphrase in *passphrase_file*, and is good *until* a moment. One that *follows* another is
    called NAME.2.key, NAME.3.key and so on, and takes along by what the member knows its state and ledger again.
    """
    refuse_bad_name(name)
    passphrase = None if passphrase_file is None else read_passphrase(Path(passphrase_file))
    root = None if follows is None else root_of(follows)
    stem = name if follows is None else _next_stem(Path(folder), name)
    key_path, certificate_path = Path(folder) / f"{stem}.key", Path(folder) / f"{stem}.crt"
    for path in (key_path, certificate_path):
        if path.exists():
            raise FileError(f"{path}: is already there; a new key would make a new member.")
    key, certificate = generate(name, until=until)
    try:
        descriptor = os.open(key_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(written(key, passphrase=passphrase, root=root))
        certificate_path.write_bytes(certificate)
    except OSError as error:
        for path in (key_path, certificate_path):  # one without the other is no use, and would be in the way
            with contextlib.suppress(OSError):
                path.unlink()
        raise FileError(
            f"{folder}: a key cannot be written there ({error.strerror}); make room, or name another folder."
        ) from error
    return key_path, certificate_path


def _next_stem(folder: Path, name: str) -> str:
    """Return what the next key of a member is called: one more than those that are there."""
    numbers = itertools.count(2)
    return next(stem for k in numbers if not (folder / f"{(stem := f'{name}.{k}')}.key").exists())


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
    try:
        made.load_cert_chain(certificate, key, password=lambda: passphrase_for(key))
    except ssl.SSLError as error:
        raise FileError(f"{key}: is no private key of {certificate.name}, or has another passphrase.") from error
    made.load_verify_locations(cadata="\n".join(trusted))
    if server:
        made.num_tickets = 0
    return made
