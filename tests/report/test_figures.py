"""Pictures show the numbers that they are drawn from."""

import networkx as nx
import numpy as np
import plotly.graph_objects as go
import pytest

import tacit
from tacit.report import dark, figures
from tacit.report.figures.network import roles_in
from tacit.report.palette import DARK, LIGHT
from tacit.runtimes.peers import LinkTimes, Report, Timekeeper
from tacit.runtimes.peers.spells import Spell


def traces(figure, name):
    return [trace for trace in figure.data if trace.name == name]


def test_convergence_draws_the_looks_of_the_record(answer):
    figure = figures.convergence(answer)
    (drawn,) = traces(figure, "disagreement")
    assert list(drawn.x) == [check.round for check in answer.record.history]
    assert drawn.y == pytest.approx([check.disagreement for check in answer.record.history], abs=1e-17)
    both = figures.convergence({"with masks": answer, "again": answer.record})
    assert [trace.name for trace in both.data] == ["with masks", "again"]


def test_an_exposed_agent_is_red_and_crossed():
    graph = nx.star_graph(3)
    certificate = tacit.certify(graph, {0}, sigma=1.0)
    figure = figures.network(graph, certificate)
    (drawn,) = traces(figure, "exposed")
    assert sorted(drawn.text) == ["1", "2", "3"]
    assert drawn.marker.line.color == LIGHT.red
    assert "x" in drawn.marker.symbol, "not by colour alone"
    (corrupted,) = traces(figure, "corrupted")
    assert list(corrupted.text) == ["0"]
    assert figure.layout.title.text == "0 can read 1, 2, 3"


def test_pieces_of_a_cut_are_shown_as_sums():
    graph = nx.barbell_graph(3, 1)
    net = tacit.Network(graph)
    certificate = tacit.certify(graph, {3}, sigma=1.0)
    assert set(roles_in(net, certificate).values()) == {"corrupted", "in a sum that is learnt"}


def test_suggested_links_are_dashed():
    links = tacit.augment(nx.path_graph(5), any=1).links
    (drawn,) = traces(figures.network(nx.path_graph(5), suggested=links), "links that would help")
    assert drawn.line.dash == "dash"
    assert len(drawn.x) == 3 * len(links)


def test_no_suggested_link_lies_on_others():
    (drawn,) = traces(figures.network(nx.path_graph(5), suggested=[(0, 4)]), "links that would help")
    (agents,) = traces(figures.network(nx.path_graph(5), suggested=[(0, 4)]), "agent")
    (xa, xb), (ya, yb) = drawn.x[:2], drawn.y[:2]
    away = [abs((xb - xa) * (y - ya) - (yb - ya) * (x - xa)) for x, y in zip(agents.x, agents.y, strict=True)]
    assert sorted(away)[2] > 0.1, "the three others are beside it"


def test_the_chosen_sigma_is_on_the_curve(network):
    certificate = tacit.certify(network, any=1, sigma=7.0)
    figure = figures.hidden_difference(certificate)
    curve, mark = figure.data[0], figure.data[-1]
    assert list(mark.x) == [7.0]
    assert mark.y[0] == pytest.approx(certificate.hidden_difference())
    middle = len(curve.x) // 2
    assert (curve.x[middle], curve.y[middle]) == pytest.approx((7.0, certificate.hidden_difference()))
    for sigma, height in list(zip(curve.x, curve.y, strict=True))[::20]:
        assert height == pytest.approx(tacit.certify(network, any=1, sigma=sigma).hidden_difference())


def test_guesses_are_those_of_certificates_at_every_sigma(network):
    certificate = tacit.certify(network, any=1, sigma=2.0)
    curve = figures.guess(certificate, 5.0).data[0]
    for sigma, share in list(zip(curve.x, curve.y, strict=True))[::20]:
        assert share == pytest.approx(tacit.certify(network, any=1, sigma=sigma).guess(5.0))


def test_several_guesses_are_drawn_with_a_label_each(network):
    certificates = {f"any {t}": tacit.certify(network, any=t, sigma=2.0) for t in (0, 1, 2)}
    figure = figures.guess(certificates | {"sums": tacit.certify(network, any=1, sigma=np.inf)}, 3.0)
    labels = {label.text: label for label in figure.layout.annotations}
    assert set(labels) == {*certificates, "a coin"}
    curves = [trace for trace in figure.data if trace.mode == "lines"]
    for (name, certificate), curve in zip(certificates.items(), curves, strict=True):
        sigma, share = curve.x[70], curve.y[70]
        assert share == pytest.approx(tacit.certify(network, any=int(name[-1]), sigma=sigma).guess(3.0))
        assert certificate.guess(3.0 * 2.0 / 10 ** labels[name].x) == pytest.approx(labels[name].y)


def test_runners_of_several_races_are_drawn_by_name(problem):
    from tacit.comparing import race

    (plain,) = race(problem, ["extra"], max_exchanges=30, finest=1e-3).runners
    figure = figures.raced({"EXTRA": plain}, title="It falls", logarithmic=True)
    (curve,) = figure.data
    assert (curve.name, list(curve.x)) == ("EXTRA", plain.exchanges)
    assert plain.errors[-1] <= 1e-3 < plain.errors[-2]
    assert figure.layout.title.text == "It falls"
    assert figure.layout.meta["says"].startswith("It falls. EXTRA: an error of")


@pytest.mark.parametrize("sigma", [np.inf, 1.0])
def test_where_there_is_no_curve_the_reason_stands_in_its_place(sigma):
    certificate = tacit.certify(nx.star_graph(3), {0}, sigma=sigma)
    for figure in (
        figures.hidden_difference(certificate),
        figures.guess(certificate),
        figures.tradeoff(certificate),
    ):
        assert not figure.data
        assert "exactly" in figure.layout.title.text or "guaranteed" in figure.layout.title.text


def test_the_matrix_says_what_certificates_say():
    graph = nx.star_graph(3)
    each = [tacit.certify(graph, {agent}, sigma=1.0) for agent in graph]
    (drawn,) = figures.who_learns(each).data
    assert [list(row) for row in drawn.text] == [
        ["·", "✕", "✕", "✕"],
        ["", "·", "", ""],
        ["", "", "·", ""],
        ["", "", "", "·"],
    ]
    stops = [stop for stop, _ in drawn.colorscale]
    assert stops == sorted(stops), "plotly takes another scale in silence"
    for kind, colour in ((0, LIGHT.card), (1, LIGHT.pale), (3, LIGHT.red)):
        share = (kind - drawn.zmin) / (drawn.zmax - drawn.zmin)
        assert next(shade for stop, shade in drawn.colorscale if stop >= share) == colour


def test_a_forest_has_every_coefficient_with_its_interval(model):
    summary = model.summary_
    figure = figures.coefficients(summary)
    points = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.y[0] for trace in points] == list(summary.names)
    low, high = summary.intervals().T
    for trace, a, b in zip(points, low, high, strict=True):
        assert (trace.x[0] - trace.error_x.arrayminus[0], trace.x[0] + trace.error_x.array[0]) == pytest.approx(
            (a, b)
        )


def test_a_day_stacks_up_to_the_demand(results):
    schedule, _ = results["day"]
    figure = figures.day(schedule)
    stacked = sum(np.array(trace.y) for trace in figure.data if trace.type == "bar")
    assert stacked == pytest.approx(schedule.demand, rel=1e-6)


def test_dark_is_the_same_picture_in_other_colours(answer):
    figure = figures.convergence(answer)
    night = dark(figure)
    assert isinstance(night, go.Figure)
    assert night.data[0].line.color == DARK.blue
    assert list(night.data[0].x) == list(figure.data[0].x)
    assert LIGHT.blue not in night.to_json()


def test_the_matrix_promises_nothing_that_a_stamp_takes_back(problem):
    seeded = tacit.solve(problem, privacy=tacit.AffineMasks(50.0, seed=1))
    figure = figures.who_learns([seeded.certificate({agent}) for agent in (0, 1)])
    assert figure.layout.title.text == "Not everybody's number is guaranteed to be hidden"
    assert {sign for row in figure.data[0].text for sign in row} == {"·", "?"}


def test_links_are_drawn_while_they_were_up_and_crossed_where_they_were_lost():
    spells = {("a", "b"): (Spell(1.0, 3.0, "silent"), Spell(4.0, 9.0, "closed")), ("a", "c"): (Spell(0.5, 9.0),)}
    figure = figures.links(LinkTimes(9.0, spells))
    (up,), (lost,) = traces(figure, "up"), traces(figure, "lost")
    drawn = sorted(zip(up.y, up.base, up.x, strict=True))
    assert drawn == [("a – b", 1.0, 2.0), ("a – b", 4.0, 5.0), ("a – c", 0.5, 8.5)]
    assert (list(lost.x), list(lost.y), lost.marker.symbol) == ([3.5], ["a – b"], "x")
    assert figure.layout.title.text == "1 of 2 links were lost and came back; a – b was down for 1 s"
    assert not traces(figure, "never up")[0].x


def test_of_a_links_two_ends_the_first_is_believed():
    keeper = Timekeeper(clock=lambda: 10.0)
    keeper.report(Report("a", "done", spells=(("b", (Spell(11.0, 14.0, "closed"),)),)))
    keeper.report(Report("b", "done", spells=(("a", (Spell(11.5, 14.5, "closed"),)),)))
    assert keeper.times() == LinkTimes(4.0, {("a", "b"): (Spell(1.0, 4.0, "closed"),)})
    assert str(keeper.times()) == "1 link came up and stayed up."


def test_a_one_line_diagram_has_every_flow_and_shows_full_lines_without_colour_too():
    from tacit.dispatch import dispatch

    plan = dispatch("case5")
    figure = figures.one_line(plan)
    assert len(traces(figure, "flows")) == len(plan.flows) == 6
    (full,) = traces(figure, "overloaded")
    assert (full.line.color, full.line.dash) == (LIGHT.red, "dash")
    assert any("✗ 118 %" in trace.text[0] for trace in traces(figure, "flows"))
    assert "1 of 6 lines would be overloaded" in figure.layout.title.text.replace("<br>", " ")
    net = dict.fromkeys([bus for flow in plan.flows for bus in (flow.start, flow.end)], 0.0)
    for flow in plan.flows:  # what leaves a bus less what comes in is what it gives less what it takes
        net[flow.start] += flow.mw[0]
        net[flow.end] -= flow.mw[0]
    assert sum(net.values()) == pytest.approx(0.0, abs=1e-9)
    assert sum(mw for mw in net.values() if mw < 0) >= -float(plan.demand[0])


def test_names_are_shown_letter_by_letter():
    graph = nx.relabel_nodes(nx.star_graph(3), {0: "<b>0</b>", 1: "a<br>b", 2: "&lt;", 3: "d"})
    certificate = tacit.certify(graph, {"<b>0</b>"}, sigma=1.0)
    for figure in (figures.network(graph, certificate), figures.who_learns([certificate])):
        figure.layout.meta = None  # what it says to whoever cannot see it, which pages escape
        shown = figure.to_json().replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u0026", "&")
        assert "&lt;b>0" in shown
        assert "&amp;lt;" in shown
        assert "<b>0" not in shown
        assert "a<br>b" not in shown
