"""The explorer in a real browser: clicks lead to what the commands say, and nothing is fetched from outside."""

import re
import shutil
import subprocess
import sys

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
        becomes(page, "[data-test=federation]", "1 of 1 members answer, in round 1.")
        becomes(page, "[data-test=federation]", "1 of 1 members answer, in round 3.")
        refuse_barriers(page)
