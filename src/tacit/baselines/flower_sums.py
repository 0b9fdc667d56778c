"""Secure aggregation by Flower, in a process of its own: its SecAgg+ on both sides, and a server between.

    python flower_sums.py        "ready" out; then {"vectors": (n, w), "limit": …} in, {"total", …} out

Server and clients are Flower's own (`SecAggPlusWorkflow`, `secaggplus_mod`); the links between them are function
calls, over which every message goes in Flower's own bytes. Nothing of tacit is imported, so that any Python with
`flwr` in it can run this file.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from typing import Any

import numpy as np
from flwr.client import ClientApp, NumPyClient
from flwr.client.mod import secaggplus_mod
from flwr.common import ConfigRecord, Context, Message, RecordDict, bytes_to_ndarray, ndarrays_to_parameters
from flwr.common.serde import message_from_proto, message_to_proto
from flwr.proto.message_pb2 import Message as Parcel
from flwr.server import Grid, LegacyContext, ServerConfig, SimpleClientManager
from flwr.server.client_proxy import ClientProxy
from flwr.server.strategy import FedAvg
from flwr.server.workflow import SecAggPlusWorkflow
from flwr.supercore.task_identity import TaskIdentity

_NEIGHBOURS = 9  # who hold shares of a client's keys, itself among them; all, where there are fewer
_WORD = 32  # bits of the modulus


class VectorClient(NumPyClient):  # type: ignore[misc]
    """A client that has one vector, and trains nothing."""

    def __init__(self, numbers: np.ndarray) -> None:
        self.numbers = numbers

    def fit(self, parameters: Any, config: Any) -> tuple[list[np.ndarray], int, dict[str, Any]]:
        """Return the vector, with the weight that all have."""
        return [self.numbers], 1, {}


def _client_with(row: np.ndarray) -> Any:
    def client(context: Context) -> Any:
        return VectorClient(row).to_client()

    return client


class CountedGrid(Grid):  # type: ignore[misc]
    """Flower's grid in one process: a message goes out as bytes, and its reply comes back as bytes."""

    def __init__(self, vectors: np.ndarray) -> None:
        self.apps = {
            k + 1: ClientApp(client_fn=_client_with(row), mods=[secaggplus_mod]) for k, row in enumerate(vectors)
        }
        self.contexts = {k: Context(1, k, {}, RecordDict(), {}) for k in self.apps}
        self.bytes = self.messages = 0
        self.masked: dict[int, list[int]] = {}

    def carried(self, message: Message) -> Message:
        """Return the message as its receiver reads it from the wire."""
        parcel = message_to_proto(message).SerializeToString()
        self.bytes, self.messages = self.bytes + len(parcel), self.messages + 1
        return message_from_proto(Parcel.FromString(parcel))

    def send_and_receive(self, messages: Any, *, timeout: float | None = None) -> list[Message]:
        """Take every message to its client, and bring the replies."""
        replies = []
        for message in messages:
            to = message.metadata.dst_node_id
            reply = self.carried(self.apps[to](self.carried(message), self.contexts[to]))
            for record in reply.content.config_records.values():
                if "masked_params" in record:
                    vector = bytes_to_ndarray(record["masked_params"][1])
                    self.masked[to] = [int(word) for word in vector.ravel()]
            replies.append(reply)
        return replies

    def _unused(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    set_run = create_message = get_node_ids = push_messages = pull_messages = _unused
    run = property(_unused)


class ClientNumber(ClientProxy):  # type: ignore[misc]
    """What Flower's server holds of a client: its number; messages go over the links."""

    def __init__(self, number: int) -> None:
        super().__init__(str(number))
        self.node_id = number

    def _unused(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    get_properties = get_parameters = fit = evaluate = reconnect = _unused


def secure_sum(vectors: np.ndarray, limit: float) -> dict[str, Any]:
    """Return the sum of all rows by SecAgg+, of numbers that are at most *limit*, and what it took."""
    n, width = vectors.shape
    links, clients = CountedGrid(vectors), SimpleClientManager()
    for k in links.apps:
        clients.register(ClientNumber(k))
    kept = FedAvg(fraction_fit=1.0, min_fit_clients=n, min_available_clients=n)
    context = LegacyContext(Context(1, 0, {}, RecordDict(), {}), ServerConfig(num_rounds=1), kept, clients)
    context.state.config_records["config"] = ConfigRecord({"current_round": 1})
    context.state.array_records["parameters"] = _record(np.zeros(width))
    shares = min(n, _NEIGHBOURS)
    levels = 2 ** (_WORD - n.bit_length())  # so many that n of them stay below the modulus
    workflow = SecAggPlusWorkflow(
        shares, max(2, round(2 * shares / 3)), max_weight=1.0, clipping_range=limit, quantization_range=levels
    )
    workflow(links, context)
    mean = context.state.array_records["parameters"].to_numpy_ndarrays()[0]
    return {
        "total": (n * mean).tolist(), "masked": [links.masked[k] for k in links.apps], "step": 2.0 * limit / levels,
        "bytes": links.bytes, "messages": links.messages,
    }  # fmt: skip


def _record(numbers: np.ndarray) -> Any:
    from flwr.compat.common.recorddict_compat import parameters_to_arrayrecord

    return parameters_to_arrayrecord(ndarrays_to_parameters([numbers]), True)


def main() -> None:
    """Answer line by line until there are no more."""
    out = sys.stdout
    TaskIdentity.task_id = TaskIdentity.run_id = TaskIdentity.node_id = 1  # the server's; clients have their own
    out.write("ready\n")
    out.flush()
    for line in sys.stdin:
        asked = json.loads(line)
        with contextlib.redirect_stdout(io.StringIO()):
            answer = secure_sum(np.array(asked["vectors"], dtype=np.float64), float(asked["limit"]))
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
