"""What an author and an operator do in the page: evaluate, edit, go through the inbox, operate."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.conftest import Site, Tab

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route


def open_view(tab: Tab, view: str, adapter: str = "workshop") -> None:
    tab.page.locator(f"[data-view={view}]").click()
    chosen = tab.page.get_by_label("Adapter")
    if chosen.count() and chosen.evaluate("el => el.tagName") == "SELECT":
        chosen.select_option(adapter)
    tab.page.wait_for_load_state("networkidle")


def open_file(tab: Tab, path: Path) -> "Locator":
    """Sign in, open a file in Author, and return its editor."""
    tab.sign_in_by_link()
    open_view(tab, "author")
    named = tab.page.get_by_role("button", name=path.name)
    named.or_(tab.page.get_by_role("link", name=path.name)).first.click()
    editor = tab.page.get_by_label("Text of the file")
    tab.wait_for_value(editor, path.read_text())
    return editor


def test_the_library_is_searched_and_drawn(tab: Tab) -> None:
    tab.sign_in()
    tab.page.get_by_test_id("library").click()
    tab.page.get_by_text("discounted_price").first.wait_for()
    tab.page.get_by_placeholder(re.compile("Search names")).fill("tune-up")
    tab.page.get_by_text("book_visit").first.wait_for()
    tab.page.get_by_text("1 template", exact=True).wait_for()
    tab.shot("library")
    tab.page.get_by_role("tab", name="Map").click()
    tab.page.get_by_role("img").first.wait_for()
    tab.shot("library-map")
    tab.page.get_by_role("tab", name="Words").click()
    tab.page.get_by_role("tabpanel").get_by_role("searchbox").fill("open")
    tab.page.get_by_text("are you open today").first.wait_for()
    tab.page.get_by_role("tab", name="Collisions").click()
    tab.page.wait_for_load_state("networkidle")
    tab.shot("library-collisions")
    assert tab.page.get_by_role("tab", name="Problems").count() == 0  # for admins alone


def test_a_view_that_is_left_at_once_leaves_the_address_alone(tab: Tab) -> None:
    """The library writes its place into the address a moment later; not once it is left."""
    held: list[Route] = []
    tab.sign_in()
    tab.page.route("**/views/evaluate.js", lambda route: held.append(route))
    tab.page.get_by_test_id("library").click()
    tab.page.get_by_text("discounted_price").first.wait_for()
    tab.page.get_by_test_id("evaluate").click()
    tab.page.wait_for_timeout(500)
    assert tab.page.evaluate("location.hash") == "#/evaluate"
    held[0].continue_()
    tab.page.get_by_test_id("run").wait_for()
    assert tab.page.evaluate("location.hash") == "#/evaluate"


def test_questions_are_evaluated_with_plots(tab: Tab) -> None:
    tab.sign_in()
    tab.page.get_by_test_id("evaluate").click()
    tab.page.get_by_test_id("run").click()
    tab.page.get_by_text("7 questions, asked at").wait_for()
    for plot in ("How often a call is right", "Thresholds swept", "Latency"):
        tab.page.get_by_role("img", name=re.compile(plot)).first.wait_for()
    tab.shot("evaluate")
    tab.page.get_by_role("radio", name="Questions of my own").check()
    tab.page.get_by_role("textbox", name="Questions of my own").fill(
        "what is 15% off 80 → opening_hours\nare you open on Friday → opening_hours"
    )
    tab.page.get_by_test_id("run").click()
    tab.page.get_by_text("2 questions, asked at").wait_for()
    tab.shot("evaluate-failure")
    tab.page.get_by_test_id("run").click()
    tab.page.get_by_text("No outcome changed since that run.").wait_for()
    tab.page.get_by_role("button", name="what is 15% off 80").first.click()
    tab.page.get_by_test_id("answer").wait_for()
    assert "That is 68" in tab.page.get_by_test_id("answer").inner_text()


def test_a_question_that_is_not_understood_is_mended_in_the_page(tab: Tab, site: Site) -> None:
    """As somebody new would: ask, see why, mend the library, see it right."""
    question = "when does the place shut on Friday"
    tab.sign_in_by_link()
    open_view(tab, "ask")
    tab.page.get_by_role("button", name="Make a key for workshop").click()
    tab.ask(question)
    assert "open from" not in tab.page.get_by_test_id("answer").inner_text()
    unread = tab.page.get_by_test_id("coverage").locator("[data-as=unread]")
    assert unread.count() >= 1
    tab.page.get_by_test_id("mend").click()
    tab.wait_for_value(tab.page.get_by_test_id("quick-text"), question)
    tab.page.locator("select").filter(has_text="opening_hours").last.select_option("opening_hours")
    tab.page.get_by_test_id("quick-preview").click()
    tab.page.get_by_test_id("quick-save").wait_for()
    tab.shot("author-preview")
    tab.page.get_by_test_id("quick-save").click()
    tab.page.get_by_test_id("ask-again").wait_for()
    tab.page.get_by_test_id("ask-again").click()
    tab.page.get_by_text("The workshop is open from").first.wait_for()
    assert question in (site.folder / "adapters/workshop/templates.yaml").read_text()
    assert "# What can be asked" in (site.folder / "adapters/workshop/templates.yaml").read_text()
    kept = list((site.folder / ".orbit").rglob("backups/**/templates.yaml"))
    assert [question in path.read_text() for path in kept] == [False]


def test_what_is_wrong_shows_at_its_line_and_is_not_saved(tab: Tab, site: Site) -> None:
    path = site.folder / "adapters/workshop/domain.yaml"
    before = path.read_text()
    editor = open_file(tab, path)
    editor.fill(before.replace("description:", "descripton:"))
    tab.page.get_by_text("descripton").last.wait_for()
    tab.page.get_by_text(re.compile("did you mean", re.I)).first.wait_for()
    tab.shot("author-problem")
    assert path.read_text() == before
    path.write_text(before + "# by another editor\n")
    editor.fill(before + "# by this page\n")
    tab.page.get_by_test_id("save").click()
    tab.page.get_by_text("The file was changed on disk").wait_for()
    tab.shot("author-conflict")
    tab.page.get_by_role("button", name="Take the one on disk").click()
    tab.wait_for_value(editor, before + "# by another editor\n")


def test_a_draft_is_asked_beside_the_version_that_runs(tab: Tab, site: Site) -> None:
    path = site.folder / "adapters/workshop/templates.yaml"
    before = path.read_text()
    editor = open_file(tab, path)
    example = '      - "are you open today"\n'
    assert example in before
    editor.fill(before.replace(example, example + '      - "is anyone there to let me in"\n'))
    tab.page.get_by_label("Questions, one a line").fill(
        "is anyone there to let me in\nwhat is 15% off 80"
    )
    tab.page.get_by_test_id("try").click()
    counts = tab.page.get_by_test_id("try-counts")
    counts.get_by_text("1 same").wait_for()
    assert "1 changed" in counts.inner_text()
    tab.shot("author-try")
    assert path.read_text() == before


def test_what_is_typed_while_a_file_is_read_again_stays(tab: Tab, site: Site) -> None:
    held: list[Route] = []
    editor = open_file(tab, site.folder / "adapters/workshop/domain.yaml")
    tab.page.wait_for_load_state("networkidle")
    tab.page.route("**/files/content*", lambda route: held.append(route))
    named = tab.page.get_by_role("button", name="domain.yaml")
    named.or_(tab.page.get_by_role("link", name="domain.yaml")).first.click()
    editor.fill("domain: {name: typed meanwhile}\n")
    while not held:
        tab.page.wait_for_timeout(20)
    with tab.page.expect_response("**/files/content*"):
        held[0].continue_()
    tab.page.wait_for_timeout(200)  # for what would be put in its place
    assert editor.input_value() == "domain: {name: typed meanwhile}\n"


def test_the_inbox_makes_an_example(tab: Tab, site: Site) -> None:
    tab.sign_in_by_link()
    open_view(tab, "ask")
    tab.page.get_by_role("button", name="Make a key for workshop").click()
    tab.ask("any message pinned up on the wall")
    open_view(tab, "inbox")
    card = tab.page.locator(".card").filter(has_text="any message pinned up on the wall")
    card.get_by_role("button", name="Make it an example…").click()
    card.get_by_label("Template").select_option("notice")
    card.get_by_role("button", name="Example", exact=True).click()
    card.get_by_test_id("add").wait_for()
    tab.shot("inbox")
    card.get_by_test_id("add").click()
    tab.page.get_by_text("It stands in the library").first.wait_for()
    assert "pinned up" in (site.folder / "adapters/workshop/templates.yaml").read_text()


def test_keys_are_made_shown_once_and_revoked(tab: Tab) -> None:
    tab.sign_in_by_link()
    open_view(tab, "operate")
    tab.page.get_by_role("tab", name="Keys").click()
    tab.page.get_by_test_id("make-key").click()
    tab.page.get_by_label("Note").fill("for the till")
    tab.page.get_by_test_id("make-key-now").click()
    key = tab.page.get_by_test_id("new-key").inner_text()
    tab.page.get_by_role("button", name="I have it").click()
    row = tab.page.get_by_role("row").filter(has_text="for the till")
    assert key not in tab.page.locator("body").inner_text()
    tab.shot("operate-keys")
    row.get_by_role("button", name=re.compile("^Revoke")).click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    tab.page.get_by_text("The key was revoked").first.wait_for()


def test_a_guard_is_tried(tab: Tab) -> None:
    tab.sign_in_by_link()
    open_view(tab, "operate")
    tab.page.get_by_role("tab", name="Guards").click()
    tab.page.get_by_test_id("guard-question").fill("should I sue the workshop?")
    tab.page.get_by_test_id("guard-try").click()
    tab.page.get_by_text("blocked").first.wait_for()
    tab.shot("operate-guards")


def test_the_audit_is_searched_and_whole(tab: Tab) -> None:
    tab.sign_in_by_link()
    open_view(tab, "operate")
    tab.page.get_by_role("tab", name="Audit").click()
    tab.page.get_by_role("row").nth(1).wait_for()
    tab.page.get_by_test_id("verify").click()
    tab.page.get_by_text(re.compile("entries.*(whole|as they were)|whole", re.I)).first.wait_for()
    tab.shot("operate-audit")


def test_traffic_is_drawn_while_it_comes(tab: Tab) -> None:
    tab.sign_in_by_link()
    tab.ask("show me all repairs")
    open_view(tab, "operate", "repairs")
    tab.page.get_by_role("img").first.wait_for()
    tab.page.get_by_text("What was decided, since the start").wait_for()
    for name in ("Adapters", "Proposals", "Log"):
        tab.page.get_by_role("tab", name=name).click()
        tab.page.wait_for_load_state("networkidle")
        tab.shot(f"operate-{name.lower()}")
