"""Every view for everybody: axe finds nothing serious, a telephone shows it all, and in Hebrew it
stands right to left.
"""

import json
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Site, Tab, make_tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VIEWS = ("ask", "library", "evaluate", "author", "inbox", "operate")
SERIOUS = ("serious", "critical")


def fill(tab: Tab, view: str) -> None:
    """Open a view, with something in it."""
    tab.page.locator(f"[data-view={view}]").click()
    if view == "ask":
        tab.ask("show me all repairs")
    if view == "evaluate":
        tab.page.get_by_test_id("run").click()
        tab.page.locator("svg[role=img]").first.wait_for()
    tab.page.wait_for_load_state("networkidle")
    tab.page.wait_for_timeout(300)  # for what is faded in


@pytest.mark.parametrize(("scheme", "locale"), [("light", "en-GB"), ("dark", "he-IL")])
def test_axe_finds_nothing_serious(
    chromium: "Browser", site: Site, scheme: "str", locale: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    context = chromium.new_context(
        viewport={"width": 1280, "height": 860},
        color_scheme="dark" if scheme == "dark" else "light",
        locale=locale,
    )
    tab = make_tab(context, site)
    tab.open()
    tab.page.get_by_test_id("key").wait_for()
    found = {"sign-in": serious(axe.run(tab.page).response)}
    tab.sign_in_by_link()
    assert tab.page.evaluate("document.documentElement.dir") == ("rtl" if "he" in locale else "ltr")
    for view in VIEWS:
        fill(tab, view)
        found[view] = serious(axe.run(tab.page).response)
        tab.shot(f"{view}-{scheme}")
    context.close()
    assert found == {each: [] for each in found}, json.dumps(found, indent=1)
    assert tab.faults == []


def serious(response: "dict[str, list[dict[str, object]]]") -> list[str]:
    return [
        f"{each['id']}: {each['help']}"
        for each in response["violations"]
        if each["impact"] in SERIOUS
    ]


@pytest.mark.parametrize("locale", ["en-GB", "he-IL"])
def test_a_telephone_shows_all_of_it(chromium: "Browser", site: Site, locale: str) -> None:
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, locale=locale, has_touch=True
    )
    tab = make_tab(context, site)
    tab.sign_in_by_link()
    widths = {}
    for view in VIEWS:
        fill(tab, view)
        widths[view] = tab.page.evaluate("document.documentElement.scrollWidth")
        tab.shot(f"{view}-390-{locale[:2]}")
    context.close()
    assert widths == dict.fromkeys(VIEWS, 390)
    assert tab.faults == []


def test_the_first_view_is_light(tab: Tab) -> None:
    """What signing in and asking need, over the wire: 150 kB at most."""
    sizes: list[int] = []
    session = tab.page.context.new_cdp_session(tab.page)
    session.send("Network.enable")
    session.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    tab.sign_in()
    tab.page.wait_for_load_state("networkidle")
    assert 0 < sum(sizes) <= 150_000
