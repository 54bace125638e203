"""One extractor may be asked by many threads at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from server.extraction.extractor import Extractor
from server.extraction.values import Extraction
from tests.extraction.support import NOW, ask, everyday, questions

THREADS = 8


def test_each_thread_gets_what_it_would_get_alone() -> None:
    asked = [(question["ask"], template) for template, question in questions()]
    alone = [ask(*one) for one in asked]
    # Its templates are compiled by whichever thread comes first, too.
    shared, together = Extractor(everyday().domain), Barrier(THREADS)

    def ask_all(first: int) -> list[Extraction]:
        together.wait()
        order = asked[first:] + asked[:first]
        found = [shared.extract(text, everyday().templates[t], now=NOW) for text, t in order]
        return found[len(asked) - first :] + found[: len(asked) - first]

    # Half of the threads ask the same at the same time, half something else.
    begin = [0 if thread % 2 else thread for thread in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        for found in pool.map(ask_all, begin):
            assert found == alone


def test_nothing_of_a_question_is_kept() -> None:
    extractor, template = Extractor(everyday().domain), everyday().templates["percentage"]
    extractor.prepare([template])
    before = {name: value for name, value in vars(extractor).items() if name != "_plans"}
    extractor.extract("What is 15% of 200?", template, now=NOW)
    assert {name: value for name, value in vars(extractor).items() if name != "_plans"} == before
