"""The peers' protocol without sockets, clocks or threads."""

from tacit.protocol.alarm import Alarm
from tacit.protocol.channel import Channel, Dialogue, Hello, Phase
from tacit.protocol.frames import Frame, Kind, Parser, Parting
from tacit.protocol.payloads import decode, encode, longest

__all__ = [
    "Alarm",
    "Channel",
    "Dialogue",
    "Frame",
    "Hello",
    "Kind",
    "Parser",
    "Parting",
    "Phase",
    "decode",
    "encode",
    "longest",
]
