"""One notion of an audit, searched: its sums, the class over its cells, its worst bracket."""

from typing import NamedTuple

from gerrymend.auditing.tally import NotionTally
from gerrymend.subgroups.base import BoundClass, Bracket, SubgroupClass


class Examined(NamedTuple):
    """Hold one notion of an audit: its sums, the class over its cells, its worst bracket.

    `subgroups` is the class before it was bound, for those who bind it to fewer cells, and `sign`
    the side that `bound` searches: 0 where it is both.
    """

    seen: NotionTally
    bound: BoundClass
    bracket: Bracket
    subgroups: SubgroupClass | None = None
    sign: int = 0
