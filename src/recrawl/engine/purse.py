"""What the caps have been spent so far: the budget's periods, and the project's totals."""

from __future__ import annotations

from collections.abc import Sequence

from recrawl.plan.budget import Account, Budget, Cap
from recrawl.units import Spend, Unit


class Purse:
    """Running sums of every cap; a new period begins at zero.

    `totals` are caps of the whole project, over all runs. The driver tells at the start what the
    store has booked since `started_at(now)`; from then on every spend is added here.
    """

    def __init__(self, budget: Budget, totals: Sequence[Cap], run_start: float) -> None:
        self.budget = budget
        self.totals = tuple(totals)
        self.run_start = run_start
        self.since = run_start  # when the project began to spend
        self._begun = self.started_at(run_start)
        self._spent = [Spend()] * len(self._begun)

    @property
    def caps(self) -> tuple[Cap, ...]:
        """The budget's caps, then the totals."""
        return (*self.budget.caps, *self.totals)

    def started_at(self, now: float) -> list[float]:
        """Since when each cap counts; 0.0 for the totals."""
        begun = [cap.start(now, self.run_start) for cap in self.budget.caps]
        return begun + [0.0] * len(self.totals)

    def told(self, spent: Sequence[Spend], since: float) -> None:
        """What the store has booked, aligned with `started_at`; `since`: the first booking."""
        self._spent = list(spent)
        self.since = since

    def add(self, spend: Spend, t: float) -> None:
        """One more visit was settled, booked at `t`: it counts in the periods begun by then."""
        self.turn(t)
        self._spent = [
            s + spend if t >= begun else s
            for s, begun in zip(self._spent, self._begun, strict=True)
        ]

    def turn(self, now: float) -> None:
        """Begin the periods that have begun; none comes back, should the clock step back."""
        for i, new in enumerate(self.started_at(now)):
            if new > self._begun[i]:
                self._begun[i] = new
                self._spent[i] = Spend()

    def spent(self) -> list[int]:
        """Each cap's sum in its unit."""
        return [s.get(cap.unit) for cap, s in zip(self.caps, self._spent, strict=True)]

    def account(self, now: float) -> Account:
        """The account of the window that `now` is in."""
        self.turn(now)
        spent = self.spent()
        n = len(self.budget.caps)
        left = [max(cap.amount - s, 0) for cap, s in zip(self.caps, spent, strict=True)]
        allowed = self.budget.allowance(now, self.since, spent[:n]) + left[n:]
        return Account(self.caps, left, allowed)

    def reached(self) -> Cap | None:
        """The first total that is used up, or None."""
        n = len(self.budget.caps)
        for cap, spent in zip(self.totals, self.spent()[n:], strict=True):
            if spent >= cap.amount:
                return cap
        return None


def window_budget(account: Account) -> dict[Unit, int]:
    """What may still be spent in this window, the tightest cap of each unit."""
    out: dict[Unit, int] = {}
    for cap, allowed, left in zip(account.caps, account.allowance, account.left, strict=True):
        room = max(0, min(allowed, left) - account.spent.get(cap.unit))
        out[cap.unit] = min(room, out.get(cap.unit, room))
    return out
