"""A member's private key in its file: locked with a passphrase if it has one, and what follows from it.

    -----BEGIN PRIVATE KEY-----              PKCS #8; ENCRYPTED PRIVATE KEY where there is a passphrase
    -----BEGIN TACIT DIGEST ROOT-----        only in a key that follows another one

A passphrase lies in a file of its own, whose name is in the variable TACIT_KEY_PASSPHRASE_FILE: it is never an
argument, so that no list of processes shows it. It locks the key by PBKDF2-HMAC-SHA-256 and AES-256-CBC (PBES2, RFC
8018), which OpenSSL opens too.

Digests of costs and records are keyed by a *root* that follows from the private key (HKDF-SHA-256, RFC 5869). A key
that follows another one takes the root along, sealed under itself (AES-256-GCM): a member with a new key knows its
old state and its old ledger again.
"""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, hmac, padding, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

from tacit.errors import FileError

PASSPHRASE_FILE = "TACIT_KEY_PASSPHRASE_FILE"  # noqa: S105  the name of a variable
"""The variable that names the file with the passphrase."""
_SHORTEST, _LONGEST = 12, 1024  # characters of a passphrase, and bytes: OpenSSL takes no more
_ITERATIONS = 600_000
_KEY = re.compile(rb"-----BEGIN ((?:ENCRYPTED |EC )?PRIVATE KEY)-----.*?-----END \1-----\n?", re.DOTALL)
_ROOT = re.compile(rb"-----BEGIN TACIT DIGEST ROOT-----\s(.*?)\s-----END TACIT DIGEST ROOT-----", re.DOTALL)
_LOCKED = b"ENCRYPTED PRIVATE KEY"


def read_passphrase(file: Path) -> bytes:
    """Return the passphrase in a file: its first line. Nobody but its owner may read it."""
    try:
        mode, text = file.stat().st_mode, file.read_bytes()
    except OSError as error:
        raise FileError(f"{file}: the passphrase cannot be read ({error.strerror}).") from None
    if mode & 0o077:
        raise FileError(f"{file}: others can read the passphrase; use chmod 600, and change it.")
    passphrase = text.split(b"\n")[0].rstrip(b"\r")
    if not _SHORTEST <= len(passphrase) <= _LONGEST:
        raise FileError(f"{file}: a passphrase has {_SHORTEST} to {_LONGEST} characters, in one line.")
    return passphrase


def is_locked(key: Path) -> bool:
    """Tell whether a key has a passphrase."""
    return _LOCKED in _content(key)


def passphrase_for(key: Path) -> bytes:
    """Return the passphrase of a locked key, from the file that the environment names."""
    name = os.environ.get(PASSPHRASE_FILE, "")
    if not name:
        raise FileError(
            f"{key}: has a passphrase. Put it into a file that only you can read, and the name of that file into "
            f"{PASSPHRASE_FILE}."
        )
    return read_passphrase(Path(name))


def read_key(key: Path) -> ec.EllipticCurvePrivateKey:
    """Return the private key in a file, unlocked if it has a passphrase."""
    block = _KEY.search(_content(key))
    password = None if block is None or _LOCKED not in block[0] else passphrase_for(key)
    try:
        read = None if block is None else serialization.load_pem_private_key(block[0], password)
    except (ValueError, TypeError):
        if password is not None:
            raise FileError(f"{key}: is not unlocked by the passphrase in {os.environ[PASSPHRASE_FILE]}.") from None
        read = None
    if not isinstance(read, ec.EllipticCurvePrivateKey):
        raise FileError(f"{key}: cannot be read as a private key.")
    return read


def written(
    key: ec.EllipticCurvePrivateKey, *, passphrase: bytes | None = None, root: bytes | None = None
) -> bytes:
    """Return the content of a key's file, with the *root* of the key that it follows."""
    text = _pem("PRIVATE KEY", _der(key)) if passphrase is None else _pem(_LOCKED.decode(), _lock(key, passphrase))
    if root is not None:
        nonce = os.urandom(12)
        text += _pem("TACIT DIGEST ROOT", nonce + AESGCM(_sealing(key)).encrypt(nonce, root, None))
    return text


def root_of(key: Path) -> bytes:
    """Return the secret from which those for digests follow: of this key, or of the first that it follows."""
    private, sealed = read_key(key), _ROOT.search(_content(key))
    if sealed is None:
        return _extracted(private)
    try:
        data = base64.b64decode(sealed[1])
        return AESGCM(_sealing(private)).decrypt(data[:12], data[12:], None)
    except (ValueError, InvalidTag):
        raise FileError(f"{key}: the root of its digests is damaged; take it from a copy.") from None


def derived(key: Path, label: str) -> bytes:
    """Return a secret for one purpose, from a private key that serves another (HKDF-SHA-256, RFC 5869)."""
    return _expanded(root_of(key), label)


def _content(key: Path) -> bytes:
    try:
        return key.read_bytes()
    except OSError as error:
        raise FileError(f"{key}: cannot be read ({error.strerror}).") from None


def _der(key: ec.EllipticCurvePrivateKey) -> bytes:
    plain = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, plain)


def _extracted(key: ec.EllipticCurvePrivateKey) -> bytes:
    """Return the pseudorandom key of HKDF without a salt."""
    extract = hmac.HMAC(bytes(32), hashes.SHA256())
    extract.update(_der(key))
    return extract.finalize()


def _expanded(root: bytes, label: str) -> bytes:
    return HKDFExpand(hashes.SHA256(), 32, info=f"tacit: {label}".encode()).derive(root)


def _sealing(key: ec.EllipticCurvePrivateKey) -> bytes:
    return _expanded(_extracted(key), "sealing the root of digests")


def _pem(label: str, data: bytes) -> bytes:
    letters = base64.b64encode(data).decode()
    lines = [letters[k : k + 64] for k in range(0, len(letters), 64)]
    return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----", ""]).encode()


# PBES2 in DER, since `cryptography` writes it with 2048 iterations only ------------------------------------------

_PBES2, _PBKDF2 = bytes.fromhex("06092a864886f70d01050d"), bytes.fromhex("06092a864886f70d01050c")
_HMAC_SHA256 = bytes.fromhex("300c06082a864886f70d02090500")
_AES256_CBC = bytes.fromhex("060960864801650304012a")


def _lock(key: ec.EllipticCurvePrivateKey, passphrase: bytes) -> bytes:
    """Return an EncryptedPrivateKeyInfo."""
    salt, iv = os.urandom(16), os.urandom(16)
    stretched = PBKDF2HMAC(hashes.SHA256(), 32, salt, _ITERATIONS).derive(passphrase)
    padder = padding.PKCS7(128).padder()
    encryptor = Cipher(algorithms.AES(stretched), modes.CBC(iv)).encryptor()
    body = encryptor.update(padder.update(_der(key)) + padder.finalize()) + encryptor.finalize()
    iterations = _tlv(0x02, _ITERATIONS.to_bytes(4, "big").lstrip(b"\0"))
    stretching = _tlv(0x30, _PBKDF2, _tlv(0x30, _tlv(0x04, salt), iterations, _HMAC_SHA256))
    scheme = _tlv(0x30, _PBES2, _tlv(0x30, stretching, _tlv(0x30, _AES256_CBC, _tlv(0x04, iv))))
    return _tlv(0x30, scheme, _tlv(0x04, body))


def _tlv(tag: int, *parts: bytes) -> bytes:
    """Return a tag, a length and a value."""
    body = b"".join(parts)
    size = len(body)
    length = (
        bytes([size])
        if size < 128
        else b"\x81" + bytes([size])
        if size < 256
        else b"\x82" + size.to_bytes(2, "big")
    )
    return bytes([tag]) + length + body
