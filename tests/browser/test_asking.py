"""Signing in and asking: what a person sees of an answer, and of what it would do."""

from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import Site, Tab

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_the_printed_link_signs_in_once(tab: Tab, site: Site) -> None:
    link = next(word for word in site.started.split() if "#link=" in word)
    tab.page.goto(link)
    tab.page.get_by_test_id("question").wait_for()
    assert "link=" not in tab.page.url
    tab.shot("ask-empty")
    tab.page.goto("about:blank")
    tab.page.goto(link)
    refused = tab.page.get_by_role("alert").first
    refused.wait_for()
    assert "orbit console" in refused.inner_text() or "console" in refused.inner_text()
    assert tab.page.get_by_test_id("key").is_visible()


def test_a_wrong_key_is_refused_in_words(tab: Tab) -> None:
    tab.open()
    tab.shot("sign-in")
    tab.page.get_by_test_id("key").fill("not-a-key")
    tab.page.get_by_test_id("key").press("Enter")
    tab.page.get_by_role("alert").first.wait_for()
    assert tab.page.get_by_test_id("question").count() == 0


def test_an_answer_shows_why(tab: Tab) -> None:
    tab.sign_in()
    tab.ask("my kids are asleep, please take 15% off 80")
    answer = tab.page.get_by_test_id("answer")
    assert "That is 68" in answer.inner_text()
    words = tab.page.get_by_test_id("coverage").locator("[data-as]")
    roles = {w.get_attribute("data-as") for w in words.all()}
    assert {"value", "filler"} <= roles <= {"value", "frame", "filler", "operator", "unread"}
    assert "discounted_price" in tab.page.get_by_test_id("template").inner_text()
    assert "%" in tab.page.get_by_test_id("confidence").inner_text()
    assert tab.page.get_by_test_id("trace").count() == 1
    tab.shot("ask-answer")


def test_what_is_not_read_is_marked_and_named(tab: Tab) -> None:
    tab.sign_in()
    tab.ask("who won the match yesterday")
    unread = tab.page.get_by_test_id("coverage").locator("[data-as=unread]")
    assert unread.count() >= 1
    tab.shot("ask-unread")


@pytest.mark.parametrize("accept", [True, False], ids=["yes", "no"])
def test_a_write_waits_for_a_yes(tab: Tab, *, accept: bool) -> None:
    tab.sign_in()
    tab.ask("book a brake check on Friday")
    proposal = tab.page.get_by_test_id("proposal")
    assert "brake check" in proposal.inner_text()
    tab.shot("ask-proposal")
    tab.page.get_by_test_id("confirm" if accept else "cancel").click()
    tab.page.get_by_text("Booked: brake check" if accept else "nothing was done").first.wait_for()
    assert tab.page.get_by_test_id("confirm").count() == 0


def test_what_is_missing_is_a_form_by_type(tab: Tab) -> None:
    tab.sign_in()
    tab.ask("I would like to book a visit")
    answer = tab.page.get_by_test_id("answer")
    answer.get_by_role("radio", name="tyre change").check()
    answer.get_by_label("day").fill("2027-03-01")
    tab.shot("ask-form")
    answer.get_by_role("button").click()
    tab.page.get_by_test_id("proposal").wait_for()
    assert "2027-03-01" in tab.page.get_by_test_id("proposal").inner_text()


def test_rows_are_a_table_that_sorts_and_a_chart(tab: Tab) -> None:
    tab.sign_in("repairs")
    tab.ask("show me all repairs")
    table = tab.page.get_by_test_id("answer").locator("table")
    table.get_by_role("button", name="price").click()
    first = [row.inner_text() for row in table.locator("tbody tr td:last-child").all()]
    assert first == ["30.00", "45.00", "80.00", "120.50"]
    tab.ask("income by status")
    tab.page.locator("svg[role=img]").last.wait_for()
    tab.shot("ask-chart")


def test_hostile_answers_are_text(tab: Tab) -> None:
    tab.sign_in()
    tab.ask("what does the board say")
    answer = tab.page.get_by_test_id("answer")
    assert "<script>window.hacked=1</script>" in answer.inner_text()
    assert answer.locator("img, script, iframe").count() == 0
    links = [link.get_attribute("href") for link in answer.locator("a").all()]
    assert links == ["https://example.org/board"]
    assert answer.locator("a").first.get_attribute("rel") == "noopener noreferrer"
    assert tab.page.evaluate("window.hacked") is None


def test_a_question_in_hebrew_stands_right_to_left(tab: Tab) -> None:
    tab.sign_in()
    tab.ask("מתי אתם פתוחים היום")
    coverage = tab.page.get_by_test_id("coverage")
    direction = "el => getComputedStyle(el.closest('[dir]') ?? el).direction"
    assert coverage.evaluate(direction) == "rtl"
    tab.shot("ask-hebrew-question")


def test_without_a_mouse(chromium: "Browser", tab: Tab, site: Site) -> None:
    """From the key to an answer and its reasons with Tab, Enter and the arrows alone."""
    tab.open()
    tab.page.get_by_test_id("key").wait_for()
    tab.page.keyboard.type(site.key("workshop"))
    tab.page.keyboard.press("Enter")
    tab.page.get_by_test_id("question").wait_for()
    assert tab.page.evaluate("document.activeElement.dataset.testid") == "question"
    tab.page.keyboard.type("what is 15% off 80")
    tab.page.keyboard.press("Enter")
    tab.page.get_by_test_id("confidence").wait_for()
    for _ in range(40):
        tab.page.keyboard.press("Tab")
        if tab.page.evaluate("document.activeElement.closest('[data-testid=library]') !== null"):
            break
    else:
        pytest.fail("Library cannot be reached with Tab")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**/#/library*")
