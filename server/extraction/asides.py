"""Which clauses of a message ask for something, and which only tell something beside it."""

from typing import Final

from server.extraction.frame import Frame
from server.extraction.library_words import LibraryWords
from server.text.senses import BEARS_NOTHING, Clause, MessageSenses
from server.text.stems import stem
from server.text.tokens import is_word

_SHORTEST_REMARK: Final = 2


def asides(senses: MessageSenses, frame: Frame, library: LibraryWords) -> tuple[Clause, ...]:
    """Clauses beside the request that only tell something, and name nothing it is about.

    A clause before it that has no word of the whole library is one, however it begins.
    """
    if len(senses.clauses) < 2 or not frame.examples:
        return ()
    about = [clause for clause in senses.clauses if _names_frame(senses, clause, frame)]
    # What reads as a remark is one where another clause asks, whatever it is about.
    about = [clause for clause in about if not clause.tells] or about
    about = about or [c for c in senses.clauses if not c.tells and any(senses.telling(c))]
    if not about:
        return ()
    return tuple(
        clause
        for clause in senses.clauses
        if clause not in about
        and (clause.tells or (clause < about[0] and _is_foreign(senses, clause, library)))
    )


def _is_foreign(senses: MessageSenses, clause: Clause, library: LibraryWords) -> bool:
    """Whether a clause has several words, none of the library, and asks for nothing."""
    words = senses.words[clause.first : clause.last]
    starts = [one for one in senses.senses if one.first == clause.first]
    if any(one.sense not in BEARS_NOTHING for one in starts):
        return False
    if senses.reader.is_preposition(words[0]) or sum(map(is_word, words)) < _SHORTEST_REMARK:
        return False
    if any(clause.first <= action.first < clause.last for action in senses.actions):
        return False
    return not library.knows(senses.telling(clause), senses.reader.code)


def request_clauses(senses: MessageSenses, library: LibraryWords) -> tuple[Clause, ...]:
    """The clauses that say what is asked for: all, where nothing tells them from remarks."""
    code = senses.reader.code
    if len(senses.clauses) < 2:
        return tuple(senses.clauses)
    asking = tuple(
        clause
        for clause in senses.clauses
        if not clause.tells and library.knows(senses.telling(clause), code)
    )
    return asking or tuple(senses.clauses)


def _names_frame(senses: MessageSenses, clause: Clause, frame: Frame) -> bool:
    code = senses.reader.code
    return any(stem(word, code) in frame.stems for word in senses.telling(clause))
