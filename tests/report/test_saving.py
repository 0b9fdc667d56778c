"""Figures in files: the same bytes every time, light and dark, readable without seeing."""

import shutil
import sys
import xml.etree.ElementTree as ET

import pytest

import tacit
from tacit.report import figures, save
from tacit.report.palette import DARK, LIGHT
from tacit.report.saving import adaptive

needs_chromium = pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed")


def test_an_svg_for_both_has_no_fixed_colour_left():
    svg = '<svg class="main-svg"><path style="stroke: rgb(47, 95, 208); fill: #ffffff"/></svg>'
    shown = adaptive(svg)
    assert 'style="stroke: var(--blue); fill: var(--paper)"' in shown
    assert LIGHT.blue in shown
    assert DARK.blue in shown


@pytest.mark.parametrize(
    ("name", "scheme", "says"), [("a.jpg", "light", "svg or .png"), ("a.png", "both", "only an SVG")]
)
def test_what_cannot_be_saved_is_refused(name, scheme, says, network, tmp_path):
    with pytest.raises(tacit.TacitError, match=says):
        save(figures.network(network), tmp_path / name, scheme=scheme)


def test_without_kaleido_one_sentence_says_what_to_install(network, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(tacit.TacitError, match=r"pip install 'tacit\[picture\]'"):
        save(figures.network(network), tmp_path / "a.svg")


@pytest.mark.browser
@needs_chromium
@pytest.mark.filterwarnings("ignore")
def test_a_picture_is_saved_with_the_same_bytes_twice(network, tmp_path):
    pytest.importorskip("kaleido")
    figure = figures.hidden_difference(tacit.certify(network, any=1, sigma=7.0))
    one, two = (save(figure, tmp_path / f"{k}.svg", scheme="both").read_bytes() for k in (1, 2))
    assert one == two
    (said,) = ET.fromstring(one).findall("{http://www.w3.org/2000/svg}desc")  # noqa: S314
    assert said.text == figure.layout.meta["says"]
    for colour in vars(LIGHT).values():
        red, green, blue = bytes.fromhex(colour[1:])
        assert f"rgb({red}, {green}, {blue})".encode() not in one
    assert save(figure, tmp_path / "a.png", width=300).read_bytes().startswith(b"\x89PNG")
