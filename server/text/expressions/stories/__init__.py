"""Short stories with a question: “8 cups of coffee a day for 45 days, how many cups”.

`Scanner` reads the words as facts and what is asked, and leaves none of them out; `solve` accepts
the one way in which every number leads to what is asked, and is silent where there are two.
"""

from server.text.expressions.stories.facts import Answer
from server.text.expressions.stories.reader import read_story

__all__ = ["Answer", "read_story"]
