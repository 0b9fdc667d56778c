"""Members who lie: in memory, where everybody else is the product.

Seven links, five agents; agent 0 is the root of the tree and agent 1 carries sums from and to agent 4. The honest
agents stay connected without either. Every liar below is one member that does one thing wrong. What must hold:

    unmasked    no sum to which all honest agents have contributed had them at different points
    agreed      honest agents that end a run end it with the same answer
    named       where a lie can be told from the truth by a neighbour, the liar or the link is named
"""

import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.costs import stack
from tacit.errors import EquivocationError, FileError, NetworkError, ProtocolError, RangeError, TacitError
from tacit.masks import AffineMasks, Keystream, QuadraticMasks, SumMasks, agent_keys
from tacit.protocol.payloads import decode
from tacit.runtimes import Job, StoppingRule
from tacit.runtimes.agents import QueueLinks, neighbourhoods
from tacit.runtimes.linked_peers import LinkedPeers
from tacit.runtimes.peers.evidence import verified
from tacit.runtimes.peers.tls import TlsSocket
from tacit.runtimes.phases import row_ranges, run_agent
from tacit.runtimes.transcript import DIGEST_WORDS, Transcript
from tacit.solving import choose

LINKS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 4), (2, 3), (3, 4)]
M, SECONDS = 3, 60.0  # unknowns; and how long a test waits for agents that would wait for ever
WORD = np.uint64(1 << 45)  # a good part of what is added up


def job_of(masks, algorithm, costs=None, links=LINKS):
    rng = np.random.default_rng(4)
    costs = costs or [
        tacit.Logistic(rng.standard_normal((12, M)), np.sign(rng.standard_normal(12)), l2=0.5) for _ in range(5)
    ]
    problem = tacit.Problem(nx.Graph(sorted(links)), costs)
    choice = choose(problem, algorithm, privacy=masks)
    return Job(
        network=problem.network,
        costs=problem.costs,
        stack=None,
        x0=problem.x0,
        algorithm=choice.algorithm,
        exact=choice.algorithm.exact,
        weights=choice.weights,
        privacy=masks,
        rule=StoppingRule(tolerance=1e-8, max_rounds=2000),
    )


def as_it_is(message):
    """Return a message as bytes, whatever is in it."""
    return message.dtype.kind.encode() + message.tobytes()


class Checked(QueueLinks):
    """QueueLinks that carry bytes, as links between machines do."""

    def __init__(self, wires, names):
        super().__init__(wires._outgoing, wires._incoming)
        self._names, self.heard, self.sent = names, [deque() for _ in names], [[] for _ in names]

    def send(self, neighbour, message):
        self.sent[neighbour].append(as_it_is(message))
        super().send(neighbour, message)

    def receive(self, neighbour):
        body = as_it_is(super().receive(neighbour))
        self.heard[neighbour].append(body)
        return decode(body, sender=self._names[neighbour])


class Replayed(Checked):
    """What the neighbours have sent, once more: as they do for a member that comes back."""

    def __init__(self, heard, names):
        self._names, self._again, self.sent = names, [deque(bodies) for bodies in heard], [[] for _ in names]

    def send(self, neighbour, message):
        self.sent[neighbour].append(as_it_is(message))

    def receive(self, neighbour):
        return decode(self._again[neighbour].popleft(), sender=self._names[neighbour])


class Watched:
    """A cost that notes where it was evaluated last."""

    def __init__(self, cost):
        self._cost, self.at = cost, None

    def __getattr__(self, name):
        return getattr(self._cost, name)

    def grad(self, x):
        self.at = np.array(x)
        return self._cost.grad(x)


class Honest(LinkedPeers):
    """The product, watched: at which point the agent was when it sent its word of a sum."""

    def sum(self, v, add=np.add):
        if v.dtype == np.uint64 and isinstance(self.watched, Watched):
            self.confirm()  # where the product would raise, nothing is sent
            self.words.append(None if self.watched.at is None else self.watched.at.tobytes())
        return super().sum(v, add)


class Liar(LinkedPeers):
    """Follows the protocol but for what a kind of liar does otherwise."""

    sums = 0

    def sum(self, v, add=np.add):
        """As the product does, with a say in what goes up and in what every child is told."""
        if v.dtype != np.uint64 and add is not np.maximum:
            return super().sum(v, add)
        if v.dtype == np.uint64:
            self.confirm()
        for child in self._children:
            v = self.gathered(v, self._receive(child, like=v), add)
        if self._parent is not None:
            self._links.send(self._parent, self.up(v))
            v = self._receive(self._parent, like=v)
        self.sums += 1
        for child in self._children:
            self._links.send(child, self.down(child, v))
        self._transcript.add(v)
        return v

    def gathered(self, v, theirs, add):
        return add(v, theirs)

    def up(self, v):
        return v

    def down(self, child, total):
        return total


class Meeting:
    """What came of five agents of which one may lie."""

    def __init__(self, liar=None, *, at=0, masks=None, algorithm="newton", barriers=False, costs=None, links=LINKS):
        job = job_of(masks, algorithm, costs, links)
        keys, rows = agent_keys(5, seed=9), row_ranges(job.network.degrees)
        self.names, self.links, self.job, self.watched = [f"member {i}" for i in range(5)], {}, job, {}
        self.outcomes, self.errors, self.words = {}, {}, {i: [] for i in range(5) if i != at or liar is None}
        self.done, self.at = threading.Event(), at if liar is not None else None

        def one(i, peers, wires):
            near = job.network.neighbours(i).tolist()
            peers.__class__ = liar if i == self.at else Honest
            peers.names = [self.names[j] for j in near]
            peers._links = self.links[i] = Checked(wires, peers.names)
            cost = Watched(job.costs[i]) if isinstance(masks, SumMasks) else job.costs[i]
            peers.words, peers.watched = self.words.get(i, []), cost
            self.watched[i] = cost
            try:
                self.outcomes[i] = run_agent(job, cost, peers, Keystream(keys[i]), rows=rows[i], barriers=barriers)
            except TacitError as error:
                self.errors[i] = error
            finally:
                wires.close()

        with ThreadPoolExecutor(5) as pool:
            everybody = [pool.submit(one, i, *each) for i, each in enumerate(neighbourhoods(job))]
            for agent in everybody:
                agent.result(timeout=SECONDS)

    @property
    def honest_errors(self):
        return [error for i, error in self.errors.items() if i != self.at]

    @property
    def honest_outcomes(self):
        return [outcome for i, outcome in self.outcomes.items() if i != self.at]

    def unmasked(self):
        """Return how many points the honest agents were at, sum by sum to which all of them sent a word."""
        return [len(set(points)) for points in zip(*self.words.values(), strict=False)]

    def names_liar(self):
        return any(isinstance(e, ProtocolError) and self.names[self.at] in str(e) for e in self.honest_errors)

    def names_link(self):
        return any(isinstance(e, EquivocationError) for e in self.honest_errors)

    def check(self, tolerance=0.0):
        assert all(points == 1 for points in self.unmasked()), "a sum was unmasked with inputs of different points"
        ends = [outcome.x for outcome in self.honest_outcomes]
        for x in ends[1:]:
            np.testing.assert_allclose(x, ends[0], rtol=0, atol=tolerance)


# sums -------------------------------------------------------------------------------------------------------------


class TellsOneAnother(Liar):
    """From the second sum on, one neighbour hears of another total than the rest."""

    def down(self, child, total):
        return total + WORD if child == self._children[-1] and self.sums >= 2 else total


class TellsOneAnotherAndAgreesWithAll(TellsOneAnother):
    """The same, and every neighbour is told the digest that it has itself."""

    def sum(self, v, add=np.add):
        if not hasattr(self, "told"):
            self.told = [Transcript() for _ in range(self.degree)]
        self.children = {}
        total = super().sum(v, add)
        for row, transcript in enumerate(self.told):
            transcript.add(self.children.get(row, total))
        return total

    def down(self, child, total):
        self.children[child] = super().down(child, total)
        return self.children[child]

    def _traded(self, r, only, *, digests=False):
        if not digests:
            return super()._traded(r, only)
        r = r.copy()
        r[:, :DIGEST_WORDS] = [transcript.words for transcript in self.told]
        return super()._traded(r, only, digests=True)

    def confirm(self, hops=1):
        for _ in range(hops if self._transcript.is_open or hops > 1 else 0):
            self._links.exchange([transcript.words for transcript in self.told])
        self._transcript.close()

    def _compare(self, row, message):
        pass


class TellsOneAnotherAtTheEnd(Liar):
    """The last total alone is another one for one neighbour."""

    def down(self, child, total):
        return total + np.uint64(1) if child == self._children[-1] and self.sums >= 4 else total


class ComplainsToOne(Liar):
    """One neighbour hears that somebody's numbers do not fit."""

    def down(self, child, total):
        total = total.copy()
        total[-1] += np.uint64(child == self._children[-1] and self.sums == 2)
        return total


class HasAnotherDigest(Liar):
    """Says that it was told something else."""

    def _traded(self, r, only, *, digests=False):
        if digests:
            r = r.copy()
            r[-1, 0] ^= np.uint64(1)
        return super()._traded(r, only, digests=digests)

    def confirm(self, hops=1):
        if self._transcript.is_open:
            self._links.exchange([self._transcript.words ^ np.uint64(1)] * self.degree)


class RepeatsATotal(Liar):
    """Tells one neighbour the total of the sum before: it stays where it was."""

    before = None

    def down(self, child, total):
        self.before, total = total, self.before if self.sums == 3 else total
        return total


EQUIVOCATION = [TellsOneAnother, TellsOneAnotherAndAgreesWithAll, TellsOneAnotherAtTheEnd, HasAnotherDigest]


@pytest.mark.parametrize("pairing", ["both", "one-sided", "seeds"])
@pytest.mark.parametrize("liar", EQUIVOCATION, ids=lambda liar: liar.__name__)
def test_whoever_tells_neighbours_different_totals_stops_the_run_and_reads_nobody(liar, pairing):
    meeting = Meeting(liar, masks=SumMasks(pairing=pairing))
    meeting.check()
    assert meeting.names_link()
    assert not meeting.honest_outcomes


def lying_in(number):
    """Return a liar that tells one neighbour another total in one sum, and nobody that somebody complains."""

    class TellsOneAnotherOnce(Liar):
        words_added = 0

        def sum(self, v, add=np.add):
            self.words_added += v.dtype == np.uint64
            return super().sum(v, add)

        def down(self, child, total):
            if total.dtype != np.uint64 or child != self._children[-1] or self.words_added != number:
                return total
            return np.concatenate([total[:-1] + WORD, total[-1:]])

    return TellsOneAnotherOnce


@pytest.mark.parametrize("masks", [SumMasks(), SumMasks(pairing="seeds")], ids=["both", "seeds"])
@pytest.mark.parametrize("algorithm", ["newton", "lbfgs", "fista", "direct"])
def test_every_algorithm_that_adds_up_notices_different_totals_in_the_first_sum_and_in_the_last(algorithm, masks):
    costs = quadratics() if algorithm == "direct" else None
    honest = Meeting(masks=masks, algorithm=algorithm, costs=costs)
    honest.check()
    sums = len(honest.words[0])
    assert len(honest.outcomes) == 5
    for number in {1, sums}:
        meeting = Meeting(lying_in(number), masks=masks, algorithm=algorithm, costs=costs)
        meeting.check()
        assert meeting.names_link()
        assert not meeting.honest_outcomes


class CountsComplaints(Liar):
    """The root, which follows the protocol, and keeps what it was sent of complaints and what came of it."""

    def gathered(self, v, theirs, add):
        self.watched.sent = [*getattr(self.watched, "sent", ()), int(theirs[-1])]
        return super().gathered(v, theirs, add)

    def down(self, child, total):
        self.watched.total = int(total[-1])
        return total


def test_how_many_numbers_are_beyond_the_bound_is_told_and_not_whose():
    """Two of five members complain: the sum says two, and no word that the root was sent does."""
    costs = [tacit.Quadratic((1e9 if i > 2 else 1.0) * np.eye(M), np.ones(M)) for i in range(5)]
    meeting = Meeting(CountsComplaints, masks=SumMasks(bound=1e6), algorithm="direct", costs=costs)
    assert len(meeting.errors) == 5
    assert all(isinstance(error, RangeError) for error in meeting.errors.values())
    root = meeting.watched[0]
    assert root.total == 2
    assert not {0, 1, 2} & {*root.sent}


@pytest.mark.parametrize("liar", [TellsOneAnother, RepeatsATotal, ComplainsToOne], ids=lambda liar: liar.__name__)
def test_a_member_in_the_middle_of_the_tree_fares_no_better(liar):
    meeting = Meeting(liar, at=1, masks=SumMasks())
    meeting.check()
    assert meeting.honest_errors
    assert not meeting.honest_outcomes


def test_nobody_lies_and_nobody_is_stopped():
    for masks in (SumMasks(), SumMasks(pairing="one-sided"), SumMasks(pairing="seeds"), SumMasks(words=2)):
        meeting = Meeting(masks=masks)
        meeting.check()
        assert len(meeting.outcomes) == 5
        assert set(meeting.unmasked()) == {1}
        assert len(meeting.unmasked()) > 3


class AddsToTheTotal(Liar):
    """Adds something to every sum: as if its own numbers had been others."""

    def gathered(self, v, theirs, add):
        return add(v, theirs)

    def sum(self, v, add=np.add):
        v = v.copy()
        v[1] += WORD
        return super().sum(v, add)


class UsesOtherMasks(Liar):
    """Adds other masks than it has exchanged: the total is as random as a mask."""

    def sum(self, v, add=np.add):
        return super().sum(v + np.uint64(0x9E3779B97F4A7C15), add)


class SpeaksLast(Liar):
    """The root waits for everybody's words and then chooses the total, but for the complaint."""

    def sum(self, v, add=np.add):
        self.confirm()
        for child in self._children:
            v = add(v, self._receive(child, like=v))
        v = np.concatenate([v[:-1] & ~(WORD - np.uint64(1)), v[-1:]])
        for child in self._children:
            self._links.send(child, v)
        self._transcript.add(v)
        return v


@pytest.mark.parametrize("liar", [AddsToTheTotal, UsesOtherMasks, SpeaksLast], ids=lambda liar: liar.__name__)
def test_a_lie_about_ones_own_numbers_is_not_noticed_and_is_the_same_lie_to_all(liar):
    meeting = Meeting(liar, masks=SumMasks())
    meeting.check()
    assert not meeting.names_link()


NO_NUMBERS = {
    "NaN": lambda v: np.full(v.shape, np.nan),
    "infinity": lambda v: np.full(v.shape, -np.inf),
    "more than any cost leads to": lambda v: np.full(v.shape, 1e300),
    "another shape": lambda v: np.concatenate([v, v[:1]]),
    "too few": lambda v: v[:1],
    "another kind": lambda v: v.view(np.int64),
    "nothing at all": lambda v: v[:0],
}


def adding_up(spoil, *, downwards):
    """Return a liar that sends *spoil*(sum) up to its parent, or down to its children, in the third sum."""

    class InSums(Liar):
        def up(self, v):
            return v if downwards or self.sums else spoil(v)

        def down(self, child, total):
            return spoil(total) if downwards and self.sums == 1 else total

        def sum(self, v, add=np.add):
            return super().sum(v, add) if v.dtype == np.uint64 else self.plain(v, add)

        def plain(self, v, add):
            """Add up in the open, as quadratic masks let sums be."""
            for child in self._children:
                v = add(v, self._receive(child, like=v))
            if self._parent is not None:
                self._links.send(self._parent, self.up(v))
                v = self._receive(self._parent, like=v)
            self.sums += 1
            for child in self._children:
                self._links.send(child, self.down(child, v))
            self._transcript.add(v)
            return v

    return InSums


@pytest.mark.parametrize("masks", [SumMasks(), SumMasks(pairing="seeds"), QuadraticMasks(10.0)], ids=str)
@pytest.mark.parametrize("downwards", [False, True], ids=["up", "down"])
@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_whoever_sends_no_sum_is_named_by_everybody_that_it_sends_it_to(kind, downwards, masks):
    """Member 1 has the root above it, and member 4 below."""
    costs = quadratics() if isinstance(masks, QuadraticMasks) else None
    liar = adding_up(NO_NUMBERS[kind], downwards=downwards)
    meeting = Meeting(liar, at=1, masks=masks, algorithm="direct" if costs else "newton", costs=costs)
    assert not meeting.honest_outcomes
    assert str(meeting.errors[4 if downwards else 0]).startswith("member 1 sent")


class SpeaksOutOfTurn(Liar):
    """Says something to a neighbour to which no way of the tree leads: as if it were above it, or below."""

    def sum(self, v, add=np.add):
        apart = [row for row in range(self.degree) if row != self._parent and row not in self._children]
        for row in apart if self.sums == 2 else ():
            self._links.send(row, v)
        return super().sum(v, add)


def test_whoever_claims_another_place_in_the_tree_is_named():
    """The tree follows from the manifest, and nobody is asked: a sum from elsewhere is not what is due."""
    meeting = Meeting(SpeaksOutOfTurn, at=1, masks=SumMasks())
    meeting.check()
    assert meeting.errors[2].neighbour == "member 1"
    assert not meeting.honest_outcomes


class PutBack(LinkedPeers):
    """A member whose machine was put back to an older state, and whose parent tells it another sum than before."""

    totals, adding = 0, False

    def sum(self, v, add=np.add):
        self.adding = True
        try:
            return super().sum(v, add)
        finally:
            self.adding = False

    def _receive(self, row, *, like, digest=False):
        message = super()._receive(row, like=like, digest=digest)
        if self.adding and row == self._parent:
            self.totals += 1
            message = message + WORD * np.uint64(self.totals == 2)
        return message


@pytest.mark.parametrize("pairing", ["both", "one-sided", "seeds"])
def test_a_member_that_was_put_back_and_is_told_another_sum_says_nothing_that_it_has_not_said(pairing):
    """Its honest neighbours say again what they have said, and that includes what they were told."""
    meeting = Meeting(masks=SumMasks(pairing=pairing))
    job, network, i = meeting.job, meeting.job.network, 3
    before = meeting.links[i]
    near = network.neighbours(i).tolist()
    again = Replayed(before.heard, [meeting.names[j] for j in near])
    peers = PutBack(again, network=network, me=i, own_weight=0.0, weights=np.zeros(len(near)), names=again._names)
    rows = row_ranges(network.degrees)[i]
    with pytest.raises(EquivocationError):
        run_agent(job, job.costs[i], peers, Keystream(agent_keys(5, seed=9)[i]), rows=rows)
    for now, then in zip(again.sent, before.sent, strict=True):
        *others, last = zip(now, then, strict=False)
        assert all(one == other for one, other in others)
        mine, theirs = (decode(body)[:DIGEST_WORDS] for body in last)
        assert not (mine == theirs).any(), "all that is new is the digest, and the masks that go with it"
    assert peers.totals == 2


class TellsOneSide(TellsOneAnotherAndAgreesWithAll):
    """Alone between two sides, it tells one of them another total."""

    def down(self, child, total):
        other = total + WORD
        other[-1] = total[-1]  # nobody complains
        self.children[child] = other if child >= 2 else total
        return self.children[child]


def test_a_liar_between_two_sides_is_not_noticed_and_reads_what_a_cut_tells_anyway():
    """The sides have no link between them to compare at: each is at one point, and has an answer of its own."""
    links = [(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)]
    meeting = Meeting(TellsOneSide, at=2, masks=SumMasks(), algorithm="direct", costs=quadratics(), links=links)
    answers = [meeting.outcomes[i].x for i in (0, 1, 3, 4)]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[2], answers[3])
    assert np.abs(answers[0] - answers[2]).max() > 1e-3
    assert {frozenset(piece) for piece in tacit.certify(nx.Graph(links), {2}, sigma=np.inf).exposed_sums} == {
        frozenset({0, 1}),
        frozenset({3, 4}),
    }


# gossip -----------------------------------------------------------------------------------------------------------


def gossiping(change):
    """Return a liar that sends *change*(x, row, round) in the place of its estimates."""

    class InGossip(Liar):
        round = 0

        def _exchange(self, messages, *, more=False):
            if messages[0].dtype == np.float64 and len(messages[0]) == M:
                self.round += 1
                messages = [change(m, row, self.round) for row, m in enumerate(messages)]
            return (
                self._received(self._links.exchange(messages), like=[np.zeros(M)] * len(messages))
                if (messages[0].dtype != np.int64)
                else super()._exchange(messages, more=more)
            )

    return InGossip


GOSSIP = {
    "NaN": lambda x, row, k: np.full(M, np.nan) if k == 20 else x,
    "infinity": lambda x, row, k: np.full(M, np.inf) if k == 20 else x,
    "more than any cost leads to": lambda x, row, k: np.full(M, 1e300) if k == 20 else x,
    "another shape": lambda x, row, k: np.concatenate([x, x]) if k == 20 else x,
    "another kind": lambda x, row, k: np.arange(M, dtype=np.uint64) if k == 20 else x,
    "nothing at all": lambda x, row, k: np.empty(0) if k == 20 else x,
}


@pytest.mark.parametrize("kind", GOSSIP)
def test_whoever_sends_what_no_agent_sends_is_named_by_every_neighbour(kind):
    meeting = Meeting(gossiping(GOSSIP[kind]), at=1, masks=AffineMasks(10.0), algorithm="nids")
    assert not meeting.honest_outcomes
    for neighbour in (0, 2, 4):
        error = meeting.errors[neighbour]
        assert isinstance(error, ProtocolError)
        assert str(error).startswith("member 1 sent")


@pytest.mark.parametrize("masks", [AffineMasks(10.0), None], ids=["masked", "plain"])
def test_different_estimates_for_different_neighbours_never_end_in_different_answers(masks):
    change = gossiping(lambda x, row, k: x + 0.01 * (row - 1))
    meeting = Meeting(change, at=1, masks=masks, algorithm="nids")
    converged = [o for o in meeting.honest_outcomes if o.verdict.status == "converged"]
    for outcome in converged[1:]:
        np.testing.assert_allclose(outcome.x, converged[0].x, rtol=0, atol=1e-6)


class HasOtherTerms(Liar):
    """Holds other terms of a link than the other end does: as after a mix-up of files."""

    def _traded(self, r, only, *, digests=False):
        came = super()._traded(r, only, digests=digests)
        return came + 64.0 if came.dtype == np.float64 else came


@pytest.mark.parametrize("pairing", ["both", "one-sided"])
@pytest.mark.parametrize("masks", [AffineMasks, QuadraticMasks])
def test_masks_that_do_not_cancel_are_found_before_anything_is_published(masks, pairing):
    gossip = masks is AffineMasks
    for liar in (HasOtherTerms, None):
        meeting = Meeting(
            liar,
            at=1,
            masks=masks(10.0, pairing=pairing),
            algorithm="nids" if gossip else "direct",
            barriers=True,
            costs=None if gossip else quadratics(),
        )
        if liar is None:
            assert len(meeting.outcomes) == 5
        else:
            assert all("do not cancel" in str(error) for error in meeting.honest_errors)
            assert len(meeting.honest_errors) == 4


def trading(spoil):
    """Return a liar that sends *spoil*(terms) to everybody in the place of the random terms, or keys, that it drew."""

    class InPhase1(Liar):
        def _traded(self, r, only, *, digests=False):
            return super()._traded(r if digests else spoil(r), only, digests=digests)

    return InPhase1


TERMS = {
    "beyond all draws": lambda r: r + 2.0**40,
    "beyond all draws, downwards": lambda r: r - 2.0**11,
    "beside the lattice": lambda r: r + 2.0**-60 * (1.0 + np.arange(r.size).reshape(r.shape)),
}


@pytest.mark.parametrize("pairing", ["both", "one-sided"])
@pytest.mark.parametrize("kind", TERMS)
def test_whoever_sends_random_terms_that_nobody_draws_is_named_before_they_are_added(kind, pairing):
    """Added, they would round masks and coefficients away, each by itself."""
    liar = trading(lambda r: TERMS[kind](r) * (np.abs(r) > 0) if r.dtype == np.float64 else r)
    meeting = Meeting(liar, at=1, masks=AffineMasks(2.0**-8, pairing=pairing, bound=2.0**10), algorithm="nids")
    assert not meeting.honest_outcomes
    hears = {"both": (0, 2, 4), "one-sided": (2, 4)}[pairing]  # of one-sided terms the first end sends all
    for neighbour in hears:
        assert str(meeting.errors[neighbour]).startswith("member 1 sent a random term that nobody draws")


def test_a_term_beyond_all_draws_would_tell_a_coefficient_without_its_mask():
    """What is refused above, and why: of 63.9 and 64.1, hidden behind σ = 10, it makes 0 and 128."""
    lattice = AffineMasks(10.0).lattice(agents=5, links=7)
    masks = [3.0 * lattice.step, -17.0, 12.0]  # of honest links, far below the unit in the last place of 2⁶⁰
    for theta, left in ((63.9, 0.0), (64.1, 128.0)):
        assert (lattice.round(np.array(theta)) + (sum(masks) + 2.0**59)) - 2.0**59 == left


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize("masks", [AffineMasks(10.0), SumMasks()], ids=["Gaussian", "uniform"])
def test_whoever_sends_no_random_term_is_named_by_every_neighbour(kind, masks):
    class InMasks(Liar):
        def _traded(self, r, only, *, digests=False):
            like, sent = list(r), [NO_NUMBERS[kind](row) for row in r]
            return np.stack(self._received(self._links.exchange(sent), like=like, digests=digests))

    sums = isinstance(masks, SumMasks)
    meeting = Meeting(InMasks, at=1, masks=masks, algorithm="newton" if sums else "nids")
    assert not meeting.honest_outcomes
    for neighbour in (0, 2, 4):
        assert str(meeting.errors[neighbour]).startswith("member 1 sent")


@pytest.mark.parametrize("kind", NO_NUMBERS)
def test_whoever_sends_no_digest_is_named_by_every_neighbour(kind):
    class InDigests(Liar):
        def _compare_all(self, hops):
            self._links.exchange([NO_NUMBERS[kind](self._transcript.words)] * self.degree)

    meeting = Meeting(InDigests, at=1, masks=AffineMasks(10.0), algorithm="nids", barriers=True)
    assert not meeting.honest_outcomes
    for neighbour in (0, 2, 4):
        assert str(meeting.errors[neighbour]).startswith("member 1 sent")


def test_whoever_sends_a_public_key_that_is_none_is_named():
    liar = trading(lambda r: np.zeros_like(r) if r.shape[1] == 4 else r)
    meeting = Meeting(liar, at=1, masks=AffineMasks(10.0, pairing="seeds"), algorithm="nids")
    assert not meeting.honest_outcomes
    for neighbour in (0, 2, 4):
        assert str(meeting.errors[neighbour]) == "member 1 sent something that is not a public key."


def quadratics():
    rng = np.random.default_rng(3)
    return [tacit.Quadratic(np.diag(rng.uniform(1, 2, M)), rng.standard_normal(M)) for _ in range(5)]


class SaysAllIsWell(Liar):
    """Tells everybody below it that nothing moves and all agree."""

    def down(self, child, total):
        told = np.zeros_like(total)
        told[5:] = total[5:]
        told[5 + M :] = -total[5 : 5 + M]  # lowest = highest
        return told


class HidesItsSubtree(Liar):
    """Leaves out what those below it say of themselves."""

    def gathered(self, v, theirs, add):
        return v


@pytest.mark.parametrize("at", [0, 1], ids=["the root", "between"])
@pytest.mark.parametrize("liar", [SaysAllIsWell, HidesItsSubtree], ids=lambda liar: liar.__name__)
def test_nobody_can_make_agents_believe_that_they_agree(liar, at):
    """A maximum below the own number is refused; so what all were told alike is no smaller than any of theirs."""
    meeting = Meeting(liar, at=at, masks=AffineMasks(10.0), algorithm="nids")
    assert meeting.honest_errors
    assert not meeting.honest_outcomes


# with files and keys ----------------------------------------------------------------------------------------------


def test_both_ends_of_the_link_keep_signed_evidence_and_nothing_is_sent_after_it(federation, memory, monkeypatch):
    """Member 0, the root, tells the last of its neighbours another total than the rest."""

    class OneOfThem(TellsOneAnother):
        def down(self, child, total):
            return super().down(child, total) if self._me == 0 else total

    monkeypatch.setattr("tacit.runtimes.peers.agent.LinkedPeers", OneOfThem)
    peers = federation(algorithm="newton", privacy=SumMasks(), n=6)
    _, ends = peers.play(memory, patience=2.0)
    assert all(isinstance(end, TacitError) for end in ends.values())
    statements = {}
    for name in peers.names:
        path = peers.state(name).with_suffix(".evidence")
        if path.exists():
            statements[name] = verified(path.read_bytes(), _certificate(peers, name))
    pairs = {(s.member, s.neighbour): s for s in statements.values()}
    mirrored = [s for s in pairs.values() if (s.neighbour, s.member) in pairs]
    assert mirrored, "two honest members must have noticed each other"
    for statement in mirrored:
        other = pairs[statement.neighbour, statement.member]
        assert (statement.own, statement.theirs, statement.totals) == (other.theirs, other.own, other.totals)
        assert statement.session == peers.manifest.session()
    evidence = peers.state(mirrored[0].member).with_suffix(".evidence").read_bytes()
    with pytest.raises(FileError, match="has signed"):
        verified(evidence.replace(mirrored[0].own.encode(), b"0" * 64), _certificate(peers, mirrored[0].member))
    with pytest.raises(FileError, match="has signed"):
        verified(evidence, _certificate(peers, mirrored[0].neighbour))


def test_members_whose_boxes_differ_refuse_each_other_before_a_masked_number_leaves(federation, memory):
    """With the same totals they would come to different points: the limits on x decide them, too."""
    peers = federation(algorithm="newton", privacy=SumMasks(), n=4)
    boxed = [cost + tacit.Box(-1.0, 1.0 if i else 2.0) for i, cost in enumerate(peers.job.costs)]
    peers.job = replace(peers.job, costs=boxed, stack=stack(boxed))
    world, ends = peers.play(memory, patience=4.0)
    assert all(isinstance(end, NetworkError) for end in ends.values())
    assert not [a for _, a, b, _ in world.spoken if "member-0" in (a, b)]


def test_a_neighbour_that_never_stops_talking_does_not_stop_the_clock():
    """What it sends is taken for a while, and then whoever waits looks at the time."""

    class Endless:
        def recv(self, size):
            return bytes(size)

        def recv_into(self, room):
            return len(room)

    class Loop:
        calls = 0

        def call_soon(self, call):
            self.calls += 1

    class Listener:
        def __init__(self, room):
            self.room = room

        def heard(self, data):
            return self.room

        def filled(self, count):
            return self.room

    for room in (None, memoryview(bytearray(1 << 18))):
        stream = object.__new__(TlsSocket)
        stream._socket, stream._loop, stream._listener, stream.over = Endless(), Loop(), Listener(room), Future()
        stream._room = room
        stream.take()
        assert stream._loop.calls == 1


def _certificate(peers, name):
    return peers.manifest.members[name].certificate
