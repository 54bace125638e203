"""Words of English that say what a parameter is about, and words that are never a value."""

from typing import Final

from server.extraction.english import FUNCTION_WORDS
from server.text.tokens import word_set

REQUESTS: Final = word_set(
    "find get give show tell list search look lookup calculate compute determine estimate "
    "evaluate book reserve order buy purchase convert translate analyze analyse predict forecast "
    "generate create make build play add update change modify set delete remove provide fetch "
    "retrieve obtain identify check verify compare solve simplify sort filter rank recommend "
    "suggest plan schedule arrange help want need like know query locate display return run "
    "execute perform train simulate send write read open start stop assess measure explain "
    "describe discover mix draw roll count let use using given assuming also including include "
    "please can could would should based considering according getting"
)
"""What a question asks to be done; no value when it opens a sentence."""

HOLLOW: Final = FUNCTION_WORDS | word_set(
    "name names value values number numbers parameter parameters string integer list array type "
    "types optional required default defaults eg ie etc example format used use using given "
    "specific specified particular certain provided provide return returned returns true false if "
    "not whether which will should include including based following different respective desired "
    "wanted interest interested preferred required requested want user data information details"
)
"""Words of a description that say nothing about its value."""

PLACES: Final = word_set(
    "location city place country state region destination origin area county town district venue "
    "address start end departure arrival pickup dropoff station airport island province"
)
WIDE: Final = word_set("country state region province county nation continent")
"""Places that other places lie in."""

PEOPLE: Final = word_set(
    "person player artist author actor actress director composer scientist president celebrity "
    "musician singer painter writer inventor leader politician athlete sculptor friend contact "
    "celebrity owner lawyer attorney judge band defendant plaintiff customer client employee"
)
BODIES: Final = word_set(
    "company team brand manufacturer store league university school museum hotel airline bank "
    "organization organisation restaurant club store shop firm stock exchange court market dealer"
)
WORKS: Final = word_set(
    "title book movie film song game painting event treaty war sculpture artwork building "
    "monument landmark album battle festival tournament park mountain river lake celebrity planet "
    "show item weapon empire discovery invention theory symphony piece opera franchise series"
)
NAMED: Final = PLACES | PEOPLE | BODIES | WORKS
"""What has a name that is written with a capital letter."""

KINDS: Final = word_set(
    "type kind genre style category class classification level mode cuisine diet dietary material "
    "color colour medium format view preference status specialty shape severity"
)
"""What is named by a common word, mostly one before what the function is about."""

EMPTY: Final = HOLLOW | word_set(
    "amount level piece set pair sort lot part case detail info summary report result results "
    "description overview kind range"
)
"""Words of a question that are no value by themselves."""

BEFORE: Final = {
    "place": word_set("in at near around within to from visiting for of on"),
    "person": word_set("by from of for artist starring with named against featuring"),
    "body": word_set("from of for at by in with on"),
    "topic": word_set("about on regarding concerning of for to"),
    "means": word_set("using with via through by on in as"),
    "from": word_set("from between leaving"),
    "to": word_set("to into towards toward until and"),
}
"""Words right before a value, by what its parameter is about."""

BETWEEN: Final = word_set(
    "related involving regarding named called titled located versus vs per contains containing "
    "requires required needs need has having serving offering starting ending happening "
    "performing taking made done played published released filed prefer prefers preferably about "
    "above below than least most many much today tomorrow yesterday now currently recently please "
    "days weeks months years hours minutes seconds day week month year hour minute time upcoming "
    "latest recent current next previous past last exactly approximately around roughly top best "
    "good better nearest nearby available except exceeding following given found held built born"
)
"""Words that stand between values and are hardly ever a part of one."""

MOMENTS: Final = word_set(
    "time date period season duration frame timeframe when day month year schedule deadline hour "
    "hours century era decade interval"
)
"""What is said with a span of time."""

FORMULAS: Final = word_set("function expression equation formula polynomial integrand math")
CODES: Final = word_set(
    "id ids code number docket sequence sku isbn key identifier serial symbol path file dataset "
    "variable variables filename url username account season size version"
)
