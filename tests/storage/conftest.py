"""A database of either kind, empty."""

from tests.support.databases import made as made
from tests.support.databases import url as url
