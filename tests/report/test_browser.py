"""Reports in a real browser: no network, no error on the console, nothing that keeps people out."""

import shutil

import pytest

pytest.importorskip("playwright", reason="the browser's driver is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

PATIENCE = 120_000  # ms
SERIOUS = ("serious", "critical")


KINDS = (
    "answer", "answer of processes", "answer by sums", "answer without masks", "certificate", "certificate of a cut",
    "certificate of sums", "design", "augmentation", "audit", "dispatch", "dispatch with a full line", "day", "model",
    "member", "comparison", "race", "summary",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE)
        yield browser
        browser.close()


SHOWN = [("certificate of a cut", "dark")] + [
    pytest.param(kind, scheme, marks=pytest.mark.browser)
    for kind in KINDS
    for scheme in ("light", "dark")
    if (kind, scheme) != ("certificate of a cut", "dark")
]


@pytest.mark.parametrize(("kind", "scheme"), SHOWN)
def test_a_report_opens_without_a_network_and_without_complaints(kind, scheme, results, browser, tmp_path):
    from axe_playwright_python.sync_playwright import Axe

    result, context = results[kind]
    path = result.report(tmp_path / "r.html", **context)
    surroundings = browser.new_context(
        viewport={"width": 390 if scheme == "dark" else 1280, "height": 900}, color_scheme=scheme, offline=True
    )
    surroundings.set_default_timeout(PATIENCE)
    page = surroundings.new_page()
    complaints, asked = [], []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_function(
        "[...document.querySelectorAll('.plot')].every(place => place.querySelector('.main-svg'))"
    )
    assert not complaints
    assert asked in ([path.as_uri()], [path.as_uri(), "data:,"])
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the screen"
    found = Axe().run(page).response["violations"]
    serious = [each for each in found if each["impact"] in SERIOUS]
    assert not [(each["id"], node["html"][:200]) for each in serious for node in each["nodes"]]
    surroundings.close()
