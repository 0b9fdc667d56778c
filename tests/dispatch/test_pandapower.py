"""pandapower networks."""

import numpy as np
import pytest

from tacit.dispatch import dispatch, read_grid

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def pandapower():
    """Return the library, which is heavy: not for those who only collect."""
    return pytest.importorskip("pandapower", reason="pandapower networks need its extra: tacit[pandapower]")


@pytest.mark.parametrize("name", ["case9", "case14", "case30", "case39", "case118"])
def test_the_same_grid_from_pandapower_and_from_matpower(name, centralised, pandapower_case):
    """pandapower ships MATPOWER's cases with their costs."""
    found = dispatch(pandapower_case(name))
    best = centralised(name)
    assert found.total_cost == pytest.approx(best.cost, rel=1e-6)
    assert found.balance_error <= 1e-6 * best.demand.max()


@pytest.fixture
def own(pandapower):
    """Return a network with everything that can be dispatched, and a bus that is out of service."""
    net = pandapower.create_empty_network()
    a, b, c, off = (pandapower.create_bus(net, vn_kv=110.0) for _ in range(4))
    net.bus.loc[off, "in_service"] = False
    for i, j in ((a, b), (b, c)):
        pandapower.create_line(net, i, j, length_km=1.0, std_type="149-AL1/24-ST1A 110.0")
    pandapower.create_load(net, b, p_mw=50.0, scaling=0.8)
    pandapower.create_load(net, off, p_mw=1000.0)
    pandapower.create_sgen(net, c, p_mw=10.0)
    grid = pandapower.create_ext_grid(net, a, min_p_mw=0.0, max_p_mw=100.0)
    unit = pandapower.create_gen(net, c, p_mw=0.0, min_p_mw=0.0, max_p_mw=20.0)
    flexible = pandapower.create_load(net, c, p_mw=5.0, min_p_mw=0.0, max_p_mw=8.0, controllable=True)
    pandapower.create_poly_cost(net, grid, "ext_grid", cp1_eur_per_mw=10.0, cp2_eur_per_mw2=0.5)
    pandapower.create_pwl_cost(net, unit, "gen", [[0.0, 10.0, 5.0], [10.0, 20.0, 50.0]])
    pandapower.create_poly_cost(net, flexible, "load", cp1_eur_per_mw=-40.0)  # worth 40 a MW to it
    return net


def test_loads_static_generators_and_flexible_loads(own):
    """30 MW to meet, and 8 more that are worth 40: the cheap unit gives 10, the external grid 28."""
    found = dispatch(read_grid(own))
    made = dict(zip(found.units, found.output[:, 0], strict=True))
    assert made == pytest.approx({"ext_grid 0": 28.0, "gen 0": 10.0, "load 2": -8.0}, abs=1e-6)
    assert found.price[0] == pytest.approx(38.0, rel=1e-6)
    assert found.total_cost == pytest.approx(10 * 28 + 0.5 * 28**2 + 5 * 10 - 40 * 8)


def test_a_json_file_is_the_same_network(tmp_path, own, pandapower):
    path = tmp_path / "net.json"
    pandapower.to_json(own, str(path))
    np.testing.assert_allclose(dispatch(path).output, dispatch(own).output, atol=1e-9)
