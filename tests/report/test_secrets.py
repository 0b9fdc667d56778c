"""Secrets are planted in costs, records and masks, and then looked for in every kind of report."""

import html as entities

import networkx as nx
import numpy as np
import pytest

import tacit
from tacit.runtimes.peers import LinkTimes
from tacit.runtimes.peers.spells import Spell

POINTS = (3.1847265901, -7.9061358274, 12.6390475183, 8.4857291736, -5.2719384605)


def own(page):
    """Return what is on a page beside plotly."""
    return entities.unescape(page.split("</script>", 1)[-1])


def written(value):
    """Return a number as a page could show it, from six digits on."""
    return {repr(float(value)), *(f"{abs(value):.{digits}g}" for digits in range(6, 13))}


@pytest.fixture(scope="module")
def problem():
    return tacit.Problem(nx.complete_graph(5), [tacit.Quadratic.distance([point]) for point in POINTS])


@pytest.fixture(scope="module")
def secrets():
    """Return everybody's point, and the coefficient −2 · point that a cost makes of it."""
    return set().union(*(written(factor * point) for point in POINTS for factor in (1.0, 2.0)))


LINKS = LinkTimes(3.0, {("a", "b"): (Spell(0.5, 2.0, "silent"), Spell(2.5, 3.0))})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "how", [{"privacy": tacit.AffineMasks(50.0, seed=1)}, {"protect": "whole"}, {}], ids=["affine", "sums", "none"]
)
def test_no_report_of_a_run_holds_anybodys_cost(how, problem, secrets, tmp_path):
    answer = tacit.solve(problem, **how)
    pages = [answer.report(tmp_path / "run.html", links=LINKS).read_text("utf-8"), answer._repr_html_()]
    if answer.record.phase1 is not None:
        certificate = answer.certificate(any=1)
        pages.append(certificate.report(tmp_path / "c.html", network=answer.network).read_text("utf-8"))
    for page in pages:
        assert not [secret for secret in secrets if secret in own(page)]


def test_no_report_of_a_model_holds_a_record(tmp_path):
    from tacit.learning import PrivateLogisticRegression

    rng = np.random.default_rng(5)
    X = rng.normal(size=(90, 2)) * 10.0
    y = (X @ [0.1, -0.2] + rng.logistic(size=90) > 0).astype(int)
    model = PrivateLogisticRegression().fit(X, y, groups=np.arange(90) % 5)
    hidden = set().union(*(written(value) for value in X.ravel()))
    for k, result in enumerate((model, model.summary_)):
        page = own(result.report(tmp_path / f"{k}.html").read_text("utf-8") + result._repr_html_())
        assert not [secret for secret in hidden if secret in page]


@pytest.mark.filterwarnings("ignore")
def test_only_pages_for_whoever_simulates_hold_a_truth_and_they_say_so(problem, secrets, tmp_path):
    audit = tacit.audit(problem, {0}, privacy=tacit.AffineMasks(50.0), games=200, seed=1)
    path = audit.report(tmp_path / "audit.html")
    assert path.stat().st_mode & 0o077 == 0
    shown = own(path.read_text("utf-8"))
    assert "For whoever simulates, and nobody else." in shown
    assert [secret for secret in secrets if secret in shown], "the search finds what is there"


@pytest.mark.filterwarnings("ignore")
def test_no_report_of_a_member_a_comparison_or_a_race_holds_anybodys_cost(problem, secrets, tmp_path, member_of):
    from tacit.comparing import race

    answer = tacit.solve(problem, privacy=tacit.AffineMasks(50.0))
    results = {
        "member": member_of(answer, LINKS),
        "comparison": tacit.compare(problem, only=["tacit"], sigma=50.0, seed=1),
        "race": race(problem, ["nids", "extra"], seeds=1),
    }
    for name, result in results.items():
        page = own(result.report(tmp_path / f"{name}.html").read_text("utf-8") + result._repr_html_() + str(result))
        assert not [secret for secret in secrets if secret in page], name


def test_reports_of_networks_hold_their_public_numbers_alone(secrets, tmp_path):
    """A design and links to add know no cost: what is private cannot reach them."""
    for name, result in (
        ("design", tacit.design(agents=8, any=1, guess=0.55, draws=2, seed=1)),
        ("augmentation", tacit.augment(nx.path_graph(5), any=1)),
    ):
        page = own(result.report(tmp_path / f"{name}.html").read_text("utf-8"))
        assert not [secret for secret in secrets if secret in page]


@pytest.mark.parametrize("profile", [None, [0.7131, 1.0, 0.9057]], ids=["hour", "day"])
def test_no_report_of_a_dispatch_holds_the_demand_of_a_bus_or_the_cost_of_a_unit(profile, tmp_path):
    from dataclasses import replace

    from tacit.dispatch import dispatch, read_grid

    grid = read_grid("case9")
    demand = (
        grid.demand * np.linspace(0.9173846, 1.0481957, len(grid.demand))[:, None]
    )  # numbers that nothing else has
    grid = replace(grid, demand=demand)
    shares = [1.0] if profile is None else profile
    hidden = set().union(*(written(mw * share) for mw in demand.ravel() if mw for share in shares))
    hidden |= set().union(*(written(price) for unit in grid.generators for price in unit.curve.price))
    schedule = dispatch(grid, profile=profile)
    path = schedule.report(tmp_path / "plan.html")
    page = own(path.read_text("utf-8") + schedule._repr_html_() + str(schedule))
    assert not [secret for secret in hidden if secret in page and len(secret) > 5]
    assert path.stat().st_mode & 0o077 == 0
