"""The explorer in a real browser: clicks lead to what the commands say, and nothing is fetched from outside."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen
from xml.etree import ElementTree

import networkx as nx
import pytest

import tacit

pytest.importorskip("playwright", reason="the browser's driver is not installed")
pytest.importorskip("nicegui", reason="the page's maker is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]
PATIENCE = 120_000  # ms
SERIOUS = ("serious", "critical")
BRIDGE = nx.barbell_graph(4, 2)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Serve the page with a network that has a cut, and return its address."""
    file = tmp_path_factory.mktemp("explore") / "bridge.graphml"
    nx.write_graphml(BRIDGE, file)
    command = [sys.executable, "-m", "tacit", "explore", str(file), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        yield re.search(r"http://\S+", server.stdout.readline())[0]
        server.terminate()


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # every name but the page's own leads nowhere: there is no network
        nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", nowhere], timeout=PATIENCE)
        yield browser
        browser.close()


@pytest.fixture(params=[(1280, "light"), (390, "dark")], ids=["wide", "phone"])
def page(request, browser, address):
    width, scheme = request.param
    surroundings = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    surroundings.set_default_timeout(PATIENCE)
    page = surroundings.new_page()
    complaints, asked = [], []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_selector("[data-agent]")
    yield page
    assert not complaints
    home = address.partition("?")[0]
    assert not [url for url in asked if not url.startswith((home, "data:", "blob:"))]
    surroundings.close()


def refuse_barriers(page):
    from axe_playwright_python.sync_playwright import Axe

    serious = [each for each in Axe().run(page).response["violations"] if each["impact"] in SERIOUS]
    assert not [(each["id"], node["html"][:200]) for each in serious for node in each["nodes"]]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the screen"


def becomes(page, place, text):
    """Wait until a place has a text."""
    page.wait_for_function(
        "([place, text]) => document.querySelector(place)?.textContent === text", arg=[place, text]
    )


def test_two_clicks_on_a_cut_turn_the_right_agents_red_and_say_what_certify_says(page):
    for agent in ("8", "4"):
        page.click(f'[data-agent="{agent}"]')
        page.wait_for_selector(f'[data-agent="{agent}"].corrupted')
    certificate = tacit.certify(nx.relabel_nodes(BRIDGE, str), ["4", "8"], sigma=10.0)
    becomes(page, "[data-test=statement]", certificate.statement())
    red = page.eval_on_selector_all(
        "[data-agent].exposed, [data-agent].summed", "all => all.map(each => each.dataset.agent)"
    )
    assert set(red) == {agent for piece in certificate.exposed_sums for agent in piece}
    alone = page.eval_on_selector_all("[data-agent].exposed", "all => all.map(each => each.dataset.agent)")
    assert set(alone) == set(certificate.exposed_agents)
    refuse_barriers(page)


def test_the_number_at_the_slider_is_the_one_that_calibrate_starts_from(page):
    page.click('[data-agent="0"]')
    page.wait_for_selector('[data-agent="0"].corrupted')
    page.locator("input[type=range]").fill("2")  # σ = 10²
    certificate = tacit.certify(nx.relabel_nodes(BRIDGE, str), {"0"}, sigma=100.0)
    becomes(page, "[data-test=number-1]", f"{100 * certificate.guess(1.0):.6g} %")
    guess = float(page.inner_text("[data-test=number-1]").removesuffix(" %")) / 100
    assert tacit.calibrate(BRIDGE, {0}, guess=guess, hide=1.0) == pytest.approx(100.0, rel=1e-2)


def test_the_keyboard_reaches_agents_and_corrupts_them(page):
    page.focus('[data-agent][tabindex="0"]')
    page.keyboard.press("Enter")
    page.wait_for_selector("[data-agent].corrupted")


def test_a_run_converges_and_what_is_believed_is_what_an_audit_says(page):
    from tacit.explore.cases import Choices, attack, example

    page.click("#tab-Run")
    page.fill("[data-test=seed]", "1")
    page.click("[data-test=run]")
    page.wait_for_selector(".verdict:has-text('converged')")
    page.click("[data-test=attack]")
    page.wait_for_selector("[data-test=beliefs] td")
    cells = page.eval_on_selector_all(
        "[data-test=beliefs] tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    report = attack(example("The paper's triangle"), Choices(algorithm="extra", seed=1), "1", lambda *news: None)
    assert [tuple(row) for row in cells] == report.table()
    refuse_barriers(page)


def test_a_federation_is_watched_live(page):
    from tacit.runtimes.peers.bulletin import Bulletin
    from tacit.runtimes.peers.monitoring import serve_monitoring

    rounds = iter(range(1, 1000))

    def bulletin():
        return Bulletin(
            name="north", session="s", protocol=1, pid=1, since=0.0, at=1.0, phase="p", round=next(rounds)
        )

    with serve_monitoring(bulletin, 0) as port:
        page.click("#tab-Federation")
        page.fill("[data-test=addresses]", str(port))
        page.click("[data-test=watch]")
        becomes(page, "[data-test=federation]", "1 of 1 members answers, in round 1.")
        becomes(page, "[data-test=federation]", "1 of 1 members answers, in round 3.")
        refuse_barriers(page)


ENDLESS = """
[graph]
links = [["north", "south"], ["south", "west"], ["west", "north"]]
[costs]
family = "distance"
agents = { north = { point = [1.0] }, south = { point = [2.0] }, west = { point = [6.0] } }
[privacy]
level = "affine"
sigma = 10.0
[algorithm]
name = "dgd-diminishing"
[stop]
tolerance = 1e-15
max_rounds = 100000000
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """Run `tacit up` without an end, and return where its agents' status is."""
    folder = tmp_path_factory.mktemp("up")
    (folder / "p.toml").write_text(ENDLESS, encoding="utf-8")
    command = [sys.executable, "-m", "tacit", "up", "p.toml", "--quiet", "--status", "0"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as up:
        yield re.search(r"http://(\S+)/status", up.stderr.readline())[1]
        up.send_signal(signal.SIGINT)
        up.wait(timeout=120)


def process_of(address, member):
    """Return the process of one agent."""
    with urlopen(f"http://{address}/status", timeout=60) as status:
        return next(each["pid"] for each in json.load(status) if each["name"] == member)


def test_the_processes_of_tacit_up_are_watched_live_and_whoever_is_waited_for_is_named(page, running):
    page.click("#tab-Federation")
    page.fill("[data-test=addresses]", running)
    page.click("[data-test=watch]")
    line = "document.querySelector('[data-test=federation]').textContent"
    page.wait_for_function(f"{line}.startsWith('3 of 3 members answer, in round')")
    page.wait_for_selector("text=3 links came up and stayed up")
    stopped = process_of(running, "west")
    os.kill(stopped, signal.SIGSTOP)
    try:
        page.wait_for_function(f"{line}.includes('waited for')")
        page.wait_for_selector("td.awaited")
        page.wait_for_selector("text=silent for")
        refuse_barriers(page)
    finally:
        os.kill(stopped, signal.SIGCONT)
    page.wait_for_function(f"!{line}.includes('waited for')")
    assert page.inner_text("[data-test=federation-command]") == f"tacit explore --watch {running}"
    check_that_it_can_be_taken_away(page, "Links over time as SVG", "links.svg", b"<svg")
    check_that_it_can_be_taken_away(page, "Links over time as PNG", "links.png", b"\x89PNG")
    check_that_it_can_be_taken_away(
        page, "Report of the federation as HTML", "federation.html", b"A federation of 3"
    )
    check_that_it_can_be_taken_away(page, "Members and links as GraphML", "network.graphml", b'"north"')


def check_that_it_can_be_taken_away(page, label, name, holds):
    with page.expect_download() as download:
        page.click(f"[aria-label='{label}']")
    assert download.value.suggested_filename == name
    content = Path(download.value.path()).read_bytes()
    assert holds in content
    if name.endswith((".svg", ".graphml")):
        ElementTree.fromstring(content)  # noqa: S314


def test_a_network_and_a_run_can_be_taken_away(page):
    check_that_it_can_be_taken_away(page, "Drawing as SVG", "network.svg", b"<svg")
    check_that_it_can_be_taken_away(page, "Drawing as PNG", "network.png", b"\x89PNG")
    check_that_it_can_be_taken_away(page, "Report as HTML", "certificate.html", b"Certificate against")
    check_that_it_can_be_taken_away(page, "Network as GraphML", "network.graphml", b"<graphml")
    check_that_it_can_be_taken_away(page, "Network and masks as a problem file", "problem.toml", b"[privacy]")
    page.click("#tab-Run")
    assert page.inner_text("[data-test=run-command]").startswith(
        "tacit solve problem.toml\ntacit audit problem.toml"
    )
    check_that_it_can_be_taken_away(page, "This run as a problem file", "problem.toml", b"[algorithm]")
    check_that_it_can_be_taken_away(page, "Network of the run as GraphML", "network.graphml", b"<graphml")
    page.click("[data-test=run]")
    page.wait_for_selector(".verdict:has-text('converged')")
    check_that_it_can_be_taken_away(page, "Picture of the run as SVG", "convergence.svg", b"<svg")
    check_that_it_can_be_taken_away(page, "Picture of the run as PNG", "convergence.png", b"\x89PNG")
    check_that_it_can_be_taken_away(page, "Report of the run as HTML", "run.html", b"How they agreed")
    page.click("[data-test=attack]")
    page.wait_for_selector("[data-test=beliefs] td")
    check_that_it_can_be_taken_away(page, "Report of the attacks as HTML", "audit.html", b"Audit of")
