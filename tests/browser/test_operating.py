"""What an operator does in the page: adapters, keys, guards, proposals, the log."""

import re
import shlex
import subprocess
from typing import TYPE_CHECKING

import httpx

from tests.browser.conftest import Site, Tab
from tests.browser.test_looking_after import open_view

if TYPE_CHECKING:
    from playwright.sync_api import Locator


def open_panel(tab: Tab, name: str) -> "Locator":
    tab.sign_in_by_link()
    open_view(tab, "operate")
    tab.page.get_by_role("tab", name=name).click()
    return tab.page.get_by_role("tabpanel")


def test_an_adapter_is_reloaded_and_what_cannot_be_used_is_said(tab: Tab, site: Site) -> None:
    path = site.folder / "adapters/repairs/templates.yaml"
    before = path.read_text()
    panel = open_panel(tab, "Adapters")
    card = panel.locator(".card").filter(has_text="repairs").last
    card.get_by_role("button", name="Reload").click()
    tab.page.get_by_text("repairs was reloaded").first.wait_for()
    path.write_text("templates: 3\n")
    card.get_by_role("button", name="Reload").click()
    tab.page.get_by_text("It was not reloaded").first.wait_for()
    tab.shot("operate-not-reloaded")
    path.write_text(before)
    card.get_by_role("button", name="Reload").click()
    tab.page.get_by_text("The last reload changed nothing").wait_for(state="detached")


def test_a_key_is_rotated_and_shown_once(tab: Tab, site: Site) -> None:
    panel = open_panel(tab, "Keys")
    panel.get_by_test_id("make-key").click()
    tab.page.get_by_label("Note").fill("for the door")
    tab.page.get_by_test_id("make-key-now").click()
    old = tab.page.get_by_test_id("new-key").inner_text()
    tab.page.get_by_role("button", name="I have it").click()
    row = panel.get_by_role("row").filter(has_text="for the door")
    row.get_by_role("button", name=re.compile("^Rotate")).click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("The old key goes on for").select_option(label="not at all")
    dialog.get_by_role("button", name="Rotate").click()
    new = tab.page.get_by_test_id("new-key").inner_text()
    tab.page.get_by_role("button", name="I have it").click()
    assert new not in tab.page.locator("body").inner_text()
    opened = [
        httpx.get(f"{site.url}/key", headers={"Authorization": f"Bearer {key}"}).status_code
        for key in (old, new)
    ]
    assert opened == [401, 200]


def test_a_guard_passes_what_was_allowed(tab: Tab) -> None:
    question = "should I sue the landlord?"
    panel = open_panel(tab, "Guards")
    panel.get_by_test_id("guard-question").fill(question)
    panel.get_by_test_id("guard-try").click()
    panel.get_by_role("button", name="Allow this sentence").click()
    panel.locator(".allowed").get_by_text(question).wait_for()
    panel.get_by_test_id("guard-try").click()
    panel.locator(".verdict").get_by_text("the allow list").wait_for()
    panel.get_by_role("button", name=re.compile("^Remove")).click()
    panel.get_by_text("Nothing is on it.").wait_for()


def test_a_guard_gets_another_pattern(tab: Tab) -> None:
    panel = open_panel(tab, "Guards")
    panel.get_by_role("button", name="Edit advice").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_label("What").select_option(label="Add a pattern")
    dialog.get_by_label("Text").fill(r"\bmy lawyer\b")
    dialog.get_by_role("button", name="Make the change").click()
    tab.page.get_by_text("The guard decides by it now").first.wait_for()
    panel.get_by_test_id("guard-question").fill("what would my lawyer say")
    panel.get_by_test_id("guard-try").click()
    panel.locator(".verdict").get_by_text("blocked").wait_for()


def test_what_waits_for_a_yes_is_listed(tab: Tab, site: Site) -> None:
    tab.sign_in()
    tab.ask("book a tyre change on Friday")
    tab.page.get_by_test_id("proposal").wait_for()
    panel = open_panel(tab, "Proposals")
    row = panel.get_by_role("row").filter(has_text="book_visit").first
    row.wait_for()
    assert "tyre change" in row.inner_text()
    assert panel.get_by_role("button").count() == 0  # it is its person's to settle


def test_the_log_says_more_until_the_next_start(tab: Tab, site: Site) -> None:
    panel = open_panel(tab, "Log")
    panel.get_by_role("radio", name="debug").check()
    tab.page.get_by_text(re.compile("debug", re.I)).first.wait_for()
    tab.page.wait_for_load_state("networkidle")
    tab.page.reload()
    panel = open_panel(tab, "Log")
    assert panel.get_by_role("radio", name="debug").is_checked()
    panel.get_by_role("radio", name="info").check()


def test_a_question_is_copied_as_curl(tab: Tab, site: Site) -> None:
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site.url)
    tab.sign_in()
    tab.ask("what is 15% off 80")
    tab.page.get_by_role("button", name="Copy as curl").click()
    copied = tab.page.evaluate("navigator.clipboard.readText()")
    assert "orb_" not in copied  # a key is copied from nowhere
    line = copied.replace("$ORBIT_API_KEY", site.key("workshop"))
    answered = subprocess.run(
        shlex.split(line.replace("\\\n", " ")), capture_output=True, text=True, check=True
    )
    assert "That is **68**" in answered.stdout
