"""What to believe of a page with no history: the rate of pages of its host and page type.

Empirical Bayes. A page's prior is Gamma(1, b), under which P(changed within tau) is
tau/(b + tau): a logistic model in log tau with one unknown, log b. Each group (host x page type)
learns its own log b from the changed / same of its pages, shrunk toward its page type's, and
that toward all pages'. Setting the score to zero is fitting the first moment:
`sum changed = sum tau/(b + tau)`. Insurance against a wrong default: a prior 200 times too fast
costs 13-46 % of freshness without it, 5 % with it.

A page that never showed a change has no belief of its own but its exposure: the seconds it was
seen unchanged, so its belief is Gamma(1, b of its group *by now* + exposure), exactly. Were each
to keep the b it began with, pages read early would stay behind what their group learned since.

Groups may be believed to change faster than all pages do, never slower: changes come in batches,
and a group's silence says less than its visits count.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recrawl.learn.rate import update
from recrawl.units import DAY

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]

MEAN_GAP = 50 * DAY  # the median page of 45,555 tracked ones changes a few times a year
SPREAD_ALL = 5.0  # standard deviation, in log b, of our trust in the default
SPREAD_TYPE = 1.5  # of page types around all pages
SPREAD_GROUP = 0.7  # of a type's hosts around it
SPREAD_VALIDATORS = 1.5  # the same of validators, which differ by server: an hour or never
HEARD = 10  # intervals of one page that its group listens to: later ones would count little
_STEPS = 6
_NEAR = 12.0  # log b moves at most this far by one observation


class _Log:
    """log b of one group: its evidence as a Gaussian, to be combined with the level above."""

    __slots__ = ("pull", "weight")

    def __init__(self, pull: float = 0.0, weight: float = 0.0) -> None:
        self.pull = pull  # precision x mean of what observations say
        self.weight = weight  # precision that observations gave

    def mean(self, above: float, spread: float) -> float:
        return (above * spread**-2 + self.pull) / (spread**-2 + self.weight)

    def observe(
        self, above: float, spread: float, log_tau: float, changed: bool, w: float
    ) -> None:
        """One implicit (proximal) Newton step of the logistic likelihood: never overshoots."""
        old = self.mean(above, spread)
        precision = self.weight + spread**-2
        new = old
        for _ in range(_STEPS):
            p = _logistic(log_tau - new)
            slope = precision * (new - old) + w * (changed - p)
            new -= slope / (precision + w * p * (1.0 - p))
            new = min(max(new, old - _NEAR), old + _NEAR)
        p = _logistic(log_tau - new)
        self.weight += w * p * (1.0 - p)
        self.pull = new * (self.weight + spread**-2) - above * spread**-2


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0


class GroupPrior:
    """Priors by (host, page type), learned as visits come in.

    >>> prior = GroupPrior()
    >>> round(prior.belief(1, 0)[1])  # seconds: 50 days
    4320000
    >>> for _ in range(20):
    ...     prior.observe(1, 0, 3600.0, True)
    >>> prior.belief(1, 0)[1] < 3600
    True
    """

    def __init__(self, mean_gap: float = MEAN_GAP, spread: float = SPREAD_GROUP) -> None:
        """`mean_gap`: seconds between changes of an average page, before any visit; `spread`: of
        groups around their page type, in log b.
        """
        if not 0 < mean_gap < math.inf:
            raise ValueError(f"the mean time between changes must be positive, not {mean_gap!r}")
        self.mean_gap, self.spread = mean_gap, spread
        self._all = _Log()
        self._types: dict[int, _Log] = {}
        self._groups: dict[tuple[int, int], _Log] = {}
        self._table: tuple[Ints, Floats] | None = None
        self._codes = self._order = self._kind = np.zeros(0, np.int64)  # of the groups, sorted

    def observe(
        self, host_id: int, page_type: int, tau: float, changed: bool, intervals: int = 0
    ) -> None:
        """One visit `tau` seconds after the last; tau <= 0 says nothing.

        `intervals`: how many the page had told before. The k-th counts 1/(k+1), because the
        visits of one page speak of one rate: a page often visited must not outvote the others.
        From the `HEARD`-th on nothing is learned of its group any more.
        """
        if not 0 < tau < math.inf or intervals >= HEARD:
            return
        w, x = 1.0 / (1.0 + max(intervals, 0)), math.log(tau)
        kind = self._types.setdefault(page_type, _Log())
        group = self._groups.setdefault((host_id, page_type), _Log())
        self._all.observe(math.log(self.mean_gap), SPREAD_ALL, x, changed, w)
        above = self._all_mean()
        kind.observe(above, SPREAD_TYPE, x, changed, w)
        group.observe(kind.mean(above, SPREAD_TYPE), self.spread, x, changed, w)
        self._table = None

    def _all_mean(self) -> float:
        return self._all.mean(math.log(self.mean_gap), SPREAD_ALL)

    def _type_mean(self, page_type: int) -> float:
        return self._types.get(page_type, _Log()).mean(self._all_mean(), SPREAD_TYPE)

    def _log_b(self, host_id: int, page_type: int) -> float:
        group = self._groups.get((host_id, page_type), _Log())
        mean = group.mean(self._type_mean(page_type), self.spread)
        return min(mean, self._all_mean())

    def belief(self, host_id: int, page_type: int) -> tuple[float, float]:
        """Gamma (a, b) of a page of that group: shape 1, b in seconds."""
        return 1.0, math.exp(self._log_b(host_id, page_type))

    def beliefs(self, host_id: Ints, page_type: Ints) -> tuple[Floats, Floats]:
        """The same for aligned arrays."""
        if self._table is None:
            self._table = self._all_groups()
        known, values = self._table
        wanted = _code(host_id.astype(np.int64), page_type.astype(np.int64))
        b = self._by_type(page_type)
        if known.size:
            at = np.minimum(np.searchsorted(known, wanted), known.size - 1)
            b = np.where(known[at] == wanted, values[at], b)
        return np.ones(b.size), b

    def _all_groups(self) -> tuple[Ints, Floats]:
        """Codes of all groups, ascending, and the b of each."""
        n = len(self._groups)
        if self._codes.size != n:
            codes = np.array([_code(h, t) for h, t in self._groups], np.int64)
            self._order = np.argsort(codes)
            self._codes = codes[self._order]
            self._kind = np.array([t for _, t in self._groups], np.int64)[self._order]
        logs = self._groups.values()
        pull = np.fromiter((x.pull for x in logs), np.float64, n)[self._order]
        weight = np.fromiter((x.weight for x in logs), np.float64, n)[self._order]
        means = {t: self._type_mean(t) for t in self._types}
        kinds = np.fromiter(sorted(means), np.int64, len(means))
        above = np.array([means[t] for t in kinds.tolist()])[np.searchsorted(kinds, self._kind)]
        mean = (above * self.spread**-2 + pull) / (self.spread**-2 + weight)
        return self._codes, np.exp(np.minimum(mean, self._all_mean()))

    def _by_type(self, page_type: Ints) -> Floats:
        kinds, back = np.unique(page_type, return_inverse=True)
        means = np.array([self._type_mean(int(t)) for t in kinds], np.float64)
        return np.exp(np.minimum(means, self._all_mean()))[back]

    def complete(
        self, a: Floats, b: Floats, host_id: Ints, page_type: Ints
    ) -> tuple[Floats, Floats]:
        """Beliefs of pages as they are stored, aligned: a = 0 stands for no change seen yet, b is
        then the exposure (seconds), and the group's belief is added.
        """
        own = (a > 0) & (b > 0)
        prior_a, prior_b = self.beliefs(host_id, page_type)
        exposure = np.where(own, 0.0, np.maximum(b, 0.0))
        return np.where(own, a, prior_a), np.where(own, b, prior_b + exposure)

    def of_page(self, a: float, b: float, host_id: int, page_type: int) -> tuple[float, float]:
        """The same for one page."""
        if a > 0 and b > 0:
            return a, b
        shape, scale = self.belief(host_id, page_type)
        return shape, scale + max(b, 0.0)

    def after(
        self, a: float, b: float, group: tuple[int, int], tau: float, changed: bool
    ) -> tuple[float, float]:
        """What to store of a page after a visit `tau` seconds after the last one."""
        if a > 0 or changed:
            return update(*self.of_page(a, b, *group), tau, changed)
        return 0.0, b + tau

    def to_dict(self) -> dict[str, Any]:
        """Everything learned, as JSON can hold it."""
        return {
            "mean_gap": self.mean_gap,
            "spread": self.spread,
            "all": [self._all.pull, self._all.weight],
            "types": [[t, x.pull, x.weight] for t, x in self._types.items()],
            "groups": [[h, t, x.pull, x.weight] for (h, t), x in self._groups.items()],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> GroupPrior:
        """The inverse of `to_dict`."""
        prior = cls(float(data["mean_gap"]), float(data.get("spread", SPREAD_GROUP)))
        prior._all = _Log(*data["all"])
        prior._types = {int(t): _Log(p, w) for t, p, w in data["types"]}
        prior._groups = {(int(h), int(t)): _Log(p, w) for h, t, p, w in data["groups"]}
        return prior


def _code(host_id: Any, page_type: Any) -> Any:
    return host_id * 65536 + page_type
