"""Page on planted defects: which bugs an exact check sees, which an audit sees, and after how long.

Every entry of `catalogue` is a mechanism with one realistic mistake, its claim, one pair of
inputs, and its correct twin. All outputs have a law in closed form or by enumeration, so that the
exact verdict and the information floor are computed before anything is drawn.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy import optimize, special, stats

from ldpkv import channels, privacy
from ldpkv.auditing import betting
from ldpkv.auditing.apt import NOT_REJECTED
from ldpkv.auditing.information import (
    InformationFloor,
    information_floor,
    largest_gap,
    merge_cells,
)
from ldpkv.auditing.learners import Densities
from ldpkv.baselines import UE, PrivKV
from ldpkv.channels import Channel
from ldpkv.mechanisms import PCKVGRR, PCKVUE, Mechanism, User
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    DIFFERS,
    EXACT,
    SHAPE_ONLY,
    WITHIN_ERROR,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.tradeoff import ApproximateDP, GaussianDP, PiecewiseLinear, PureDP, TradeoffCurve

PAGE = "notebooks/together/03-planted-defects.ipynb"
Floats = NDArray[np.float64]
Rng = np.random.Generator | int | None

LEVEL = 0.05
HORIZON = 10_000
REACH = 2_000
"""Floor, in pairs, up to which the audit must catch a defect within `HORIZON`."""

POWER = 0.95
RARE_POWER = 0.15
"""A defect counts as too rare when no audit of `HORIZON` pairs can have more power than this."""

FALSE_ALARM = 1e-4
REPEATS: Mapping[str, int] = {"quick": 20, "paper": 200}
N_JOBS: Mapping[str, int | None] = {"quick": None, "paper": -1}

MOST = 1e8  # floors above are given as this, which is below them
# Cells of real outputs: for a floor, and for that of a rare violation, which lies far out.
CELLS, FINE_CELLS = 50, 200
LOCAL, CENTRAL = "local", "central"
UTILITY, WITHIN, ELSEWHERE, RARE = REASONS = (
    "hurts utility only",
    "claim has room",
    "another pair shows it",
    "too rare to be seen",
)

# --- outputs with a known law ---------------------------------------------------------------


class Outputs(Protocol):
    """Outputs of a mechanism on two neighbouring inputs; a frozen value."""

    def sample(self, n: int, *, rng: Rng = None) -> tuple[Floats, Floats]:
        """Draw n outputs on D and n on D', shape (n,) each."""

    def laws(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Probabilities of the outputs, or of fine cells of them, on D and on D'."""

    def epsilon(self) -> float:
        """Exact largest |log(q / p)|, in nats; may be infinite."""


@dataclass(frozen=True)
class Coded:
    """Finitely many outputs, coded 0, 1, 2, ...

    Parameters
    ----------
    law_p, law_q : tuple of Fraction or float, same length
        Probabilities on D and on D'.
    """

    law_p: tuple[Any, ...]
    law_q: tuple[Any, ...]

    def __post_init__(self) -> None:
        for name in ("law_p", "law_q"):
            law = getattr(self, name)
            if not (len(law) and all(v >= 0 for v in law) and abs(float(sum(law)) - 1) < 1e-12):
                raise ValueError(f"{name} must be probabilities that sum to 1, got {law!r}")
        if len(self.law_p) != len(self.law_q):
            raise ValueError(
                f"law_p and law_q must have one length, got {len(self.law_p)} and {len(self.law_q)}"
            )

    def sample(self, n: int, *, rng: Rng = None) -> tuple[Floats, Floats]:
        """Draw codes; see `Outputs`."""
        coins = np.random.default_rng(rng).random((2, n))
        pair = []
        for law, coin in zip((self.law_p, self.law_q), coins, strict=True):
            chances = np.array(law, dtype=np.float64)
            last = np.flatnonzero(chances)[-1]
            code = np.searchsorted(np.cumsum(chances), coin, side="right")
            pair.append(np.minimum(code, last).astype(np.float64))
        return pair[0], pair[1]

    def laws(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give the laws as arrays; see `Outputs`."""
        return np.array(self.law_p, dtype=object), np.array(self.law_q, dtype=object)

    def epsilon(self) -> float:
        """Largest |log ratio| over the outputs; see `Outputs`."""
        worst = 0.0
        for p, q in zip(self.law_p, self.law_q, strict=True):
            if p == 0 and q == 0:
                continue
            if p == 0 or q == 0:
                return math.inf
            worst = max(worst, abs(math.log(q / p)))
        return worst

    def curve(self) -> PiecewiseLinear:
        """Exact trade-off curve."""
        return PiecewiseLinear.from_laws(self.law_p, self.law_q)


@dataclass(frozen=True)
class Noise:
    """One law: a mixture of shifted noise and of certain values, perhaps clamped.

    Parameters
    ----------
    kind : {"laplace", "normal"}
        The noise.
    parts : tuple of (weight, location, scale)
        Weights sum to 1; scale 0 stands for the location itself, without noise.
    clamp : tuple (low, high), optional
        Outputs outside are moved to the nearest end.
    """

    kind: str
    parts: tuple[tuple[float, float, float], ...]
    clamp: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("laplace", "normal"):
            raise ValueError(f"kind must be 'laplace' or 'normal', got {self.kind!r}")
        if (
            abs(sum(w for w, _, _ in self.parts) - 1) > 1e-12
            or min(min(w, s) for w, _, s in self.parts) < 0
        ):
            raise ValueError(f"parts must have weights that sum to 1, scales >= 0: {self.parts!r}")

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n outputs."""
        weight, place, scale = (np.array(column) for column in zip(*self.parts, strict=True))
        which = np.minimum(np.searchsorted(np.cumsum(weight), rng.random(n)), len(weight) - 1)
        noise = rng.laplace(size=n) if self.kind == "laplace" else rng.standard_normal(n)
        outputs = place[which] + scale[which] * noise
        return outputs if self.clamp is None else np.clip(outputs, *self.clamp)

    def smooth(self, x: Floats) -> Floats:
        """Probability of outputs up to x that carry noise, before clamping."""
        total = np.zeros_like(x)
        for weight, place, scale in self.parts:
            if scale > 0:
                z = (x - place) / scale
                total += weight * (
                    special.ndtr(z) if self.kind == "normal" else stats.laplace.cdf(z)
                )
        return total

    def atoms(self) -> dict[float, float]:
        """Values that are hit with positive probability."""
        found: dict[float, float] = {}
        for weight, place, scale in self.parts:
            if scale == 0:
                at = place if self.clamp is None else min(max(place, self.clamp[0]), self.clamp[1])
                found[at] = found.get(at, 0.0) + weight
        if self.clamp is not None:
            low, high = self.clamp
            whole = sum(weight for weight, _, scale in self.parts if scale > 0)
            below, above = (float(v) for v in self.smooth(np.array([low, high])))
            found[low] = found.get(low, 0.0) + below
            found[high] = found.get(high, 0.0) + whole - above
        return found

    def reach(self) -> tuple[float, float]:
        """Interval outside of which noise falls with probability below 1e-17."""
        far = 9.0 if self.kind == "normal" else 40.0
        ends = [(m - far * s, m + far * s) for _, m, s in self.parts]
        low, high = min(a for a, _ in ends), max(b for _, b in ends)
        return (low, high) if self.clamp is None else self.clamp


@dataclass(frozen=True)
class Real:
    """Real outputs on D and on D'.

    Parameters
    ----------
    p, q : Noise
        Their laws.
    """

    p: Noise
    q: Noise

    def sample(self, n: int, *, rng: Rng = None) -> tuple[Floats, Floats]:
        """Draw outputs; see `Outputs`."""
        generator = np.random.default_rng(rng)
        return self.p.draw(n, generator), self.q.draw(n, generator)

    def laws(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Laws of every atom and of thousands of narrow cells; see `Outputs`."""
        low, high = (
            f(a, b) for f, a, b in zip((min, max), self.p.reach(), self.q.reach(), strict=True)
        )
        kinks = [m for law in (self.p, self.q) for _, m, _ in law.parts if low < m < high]
        edges = np.unique(np.concatenate([np.linspace(low, high, 8001), kinks]))
        clamped = self.p.clamp is not None
        sides = []
        for law in (self.p, self.q):
            smooth = law.smooth(edges)
            whole = sum(weight for weight, _, scale in law.parts if scale > 0)
            outer = (0.0, 0.0) if clamped else (smooth[0], whole - smooth[-1])
            sides.append(np.maximum(np.r_[outer[0], np.diff(smooth), outer[1]], 0.0))
        first, second = (law.atoms() for law in (self.p, self.q))
        places = sorted(set(first) | set(second))
        p = np.r_[[first.get(v, 0.0) for v in places], sides[0]]
        q = np.r_[[second.get(v, 0.0) for v in places], sides[1]]
        # Far out the differences of a distribution function have no digits left.
        lost = (np.maximum(p, q) < 1e-14) & (np.arange(len(p)) >= len(places))
        p[lost] = q[lost] = 0.0
        return p, q

    def epsilon(self) -> float:
        """Largest |log ratio|: of the densities and atoms; see `Outputs`."""
        if set(self.p.atoms()) != set(self.q.atoms()):
            return math.inf
        if self.p.clamp is not None:
            p, q = self.laws()
            seen = (p > 0) & (q > 0)
            return float(np.max(np.abs(np.log(q[seen] / p[seen]))))
        noisy = [part for law in (self.p, self.q) for part in law.parts if part[2] > 0]
        if self.p == self.q:
            return 0.0
        if self.p.kind == "normal" or len({scale for _, _, scale in noisy}) > 1:
            return math.inf
        # Between two locations q / p is monotone, beyond them it is constant.
        at = np.array([place for _, place, _ in noisy])
        p, q = (
            sum(w * stats.laplace.pdf(at, m, s) for w, m, s in law.parts if s > 0)
            for law in (self.p, self.q)
        )
        return float(np.max(np.abs(np.log(q / p))))


def _laplace(place: float, scale: float, clamp: tuple[float, float] | None = None) -> Noise:
    return Noise("laplace", ((1.0, place, scale),), clamp)


def _normal(place: float, scale: float) -> Noise:
    return Noise("normal", ((1.0, place, scale),))


def _shifted(kind: str, shift: float, scale: float) -> Real:
    """The usual case: the input moves the location only."""
    return Real(Noise(kind, ((1.0, 0.0, scale),)), Noise(kind, ((1.0, shift, scale),)))


@dataclass(frozen=True)
class ClampedCount:
    """A noisy mean whose noise scale is taken from a noisy count, on (0) and on (0, 1).

    ``m = n + Lap(2 / budget)``, output ``mean + Lap(2 / (budget m))``; where m is not positive, the
    mean itself.

    Parameters
    ----------
    budget : float
        Above 0.
    """

    budget: float

    def sample(self, n: int, *, rng: Rng = None) -> tuple[Floats, Floats]:
        """Run the mechanism; see `Outputs`."""
        generator = np.random.default_rng(rng)
        pair = []
        for size, mean in ((1.0, 0.0), (2.0, 0.5)):
            count = size + generator.laplace(0.0, 2 / self.budget, n)
            noise = generator.laplace(0.0, 1.0, n)
            scale = 2 / (self.budget * np.where(count > 0, count, 1.0))
            pair.append(mean + np.where(count > 0, scale, 0.0) * noise)
        return pair[0], pair[1]

    def laws(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Laws of both atoms and of cells; the count is integrated out numerically."""
        edges = np.unique(np.concatenate([np.sinh(np.linspace(-9, 9, 1201)), [0.0, 0.5]]))
        sides = []
        for size, mean in ((1.0, 0.0), (2.0, 0.5)):
            exact = float(stats.laplace.cdf(0.0, size, 2 / self.budget))
            # The count's density has a kink at the true count.
            upper = size + 80 / self.budget
            nodes, weights = _panels((0.0, size, upper), 400)
            mass = weights * stats.laplace.pdf(nodes, size, 2 / self.budget)
            z = (edges[:, None] - mean) * nodes * self.budget / 2
            smooth = stats.laplace.cdf(z) @ mass
            whole = 1 - exact
            cells = np.maximum(np.r_[smooth[0], np.diff(smooth), whole - smooth[-1]], 0.0)
            sides.append(np.r_[exact if mean == 0 else 0.0, exact if mean else 0.0, cells])
        return sides[0], sides[1]

    def epsilon(self) -> float:
        """Infinite: 0 itself comes from D only; see `Outputs`."""
        return math.inf


@dataclass(frozen=True)
class NoisyMean:
    """The correct twin of `ClampedCount`: a known bound on the change of the mean.

    Parameters
    ----------
    budget : float
        Above 0. The mean of one or two values in [0, 1] changes by at most 1.
    """

    budget: float

    def _real(self) -> Real:
        return Real(_laplace(0.0, 1 / self.budget), _laplace(0.5, 1 / self.budget))

    def sample(self, n: int, *, rng: Rng = None) -> tuple[Floats, Floats]:
        """Run the mechanism; see `Outputs`."""
        return self._real().sample(n, rng=rng)

    def laws(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """See `Outputs`."""
        return self._real().laws()

    def epsilon(self) -> float:
        """See `Outputs`."""
        return self._real().epsilon()


def _panels(ends: Sequence[float], order: int) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes and weights on adjoining intervals."""
    unit, weight = special.roots_legendre(order)
    nodes = [(b - a) / 2 * unit + (a + b) / 2 for a, b in itertools.pairwise(ends)]
    weights = [(b - a) / 2 * weight for a, b in itertools.pairwise(ends)]
    return np.concatenate(nodes), np.concatenate(weights)


# --- the catalogue --------------------------------------------------------------------------


@dataclass(frozen=True)
class Defect:
    """One planted defect.

    Parameters
    ----------
    name : str
        Short and unique.
    family : {"local", "central"}
        Whether users randomise their own reports, or a curator adds noise.
    what : str
        The mistake, in a sentence.
    where : str
        Where such a mistake was seen, or why it is realistic.
    inputs : str
        D against D'.
    claim : TradeoffCurve
        What the mechanism claims.
    outputs, twin : Outputs
        The mechanism with the defect and the correct one, on this pair of inputs.
    reason : str
        Empty, or why no audit of this pair can catch it: one of `REASONS`.
    elsewhere : Outputs, optional
        With "another pair shows it": outputs on that pair.
    """

    name: str
    family: str
    what: str
    where: str
    inputs: str
    claim: TradeoffCurve
    outputs: Outputs
    twin: Outputs
    reason: str = ""
    elsewhere: Outputs | None = None


FOUR = Fraction(4)  # e^epsilon of the local mechanisms; half of the budget gives 2
TWO = Fraction(2)


def _tuple(values: Sequence[Any] | NDArray[Any]) -> tuple[Any, ...]:
    return tuple(values)


def _reports(mechanism: Mechanism, users: Sequence[User]) -> Coded:
    weights, denominator = privacy.report_laws(mechanism, users)
    laws = [tuple(Fraction(int(v), int(denominator)) for v in row) for row in weights]
    return Coded(laws[0], laws[1])


def _user(user: User) -> str:
    pairs = ", ".join(f"{key}: {'+' if value > 0 else '−'}1" for key, value in user.items())
    return "{" + pairs + "}"


def _mechanism(
    name: str,
    what: str,
    where: str,
    broken: Mechanism,
    right: Mechanism,
    *,
    empty: bool = True,
    reason: str = "",
) -> Defect:
    """A key-value mechanism: claim and worst pair by enumeration of all users."""
    users = list(privacy.extreme_users(right.n_keys, empty=empty))
    claim = privacy.worst_ratio(right, users)
    worst = privacy.worst_ratio(broken, users)
    pair = [worst.high, worst.low]
    return Defect(
        name=name,
        family=LOCAL,
        what=what,
        where=where,
        inputs=f"{_user(worst.high)} against {_user(worst.low)}",
        claim=PureDP(claim.epsilon),
        outputs=_reports(broken, pair),
        twin=_reports(right, pair),
        reason=reason,
    )


class _NoFakeValues(PCKVUE):
    """Entries of keys that were not sampled are +1, never -1."""

    def channel(self) -> Channel:
        a, b, p = self.keep_key, self.fake_key, self.keep_sign
        rows, denominator = channels.integers(
            [[a * p, a * (1 - p), 1 - a], [a * (1 - p), a * p, 1 - a], [b, 0 * b, 1 - b]]
        )
        weights = []
        for key, sign in itertools.product(range(self.width), range(2)):
            law = np.array([1], dtype=object)
            for position in range(self.width):
                law = np.multiply.outer(law, rows[sign if position == key else 2]).ravel()
            weights.append(law)
        return Channel(np.array(weights), denominator**self.width)


class _NoPadding(PCKVGRR):
    """One of the user's own pairs is sampled; the list is never filled up to l."""

    def symbol_law(self, user: User) -> NDArray[Any]:
        law = np.full(2 * self.width, Fraction(0), dtype=object)
        for key, value in user.items():
            law[2 * key] = Fraction(1 + value, 2) / len(user)
            law[2 * key + 1] = Fraction(1 - value, 2) / len(user)
        return law


class _SignKept(PCKVGRR):
    """A fake key carries the sampled sign instead of a fair one."""

    def channel(self) -> Channel:
        right = super().channel()
        symbols, reports = np.indices(right.weights.shape)
        fake = symbols // 2 != reports // 2
        factor = np.where(symbols % 2 == reports % 2, 2, 0).astype(object)
        return Channel(np.where(fake, factor * right.weights, right.weights), right.denominator)


def _optimal_grr(ratio: Fraction, n_keys: int, padding: int) -> PCKVGRR:
    """PCKV-GRR with one ratio between the symbol and everything else."""
    keep = (ratio + 1) / (ratio + 1 + 2 * (n_keys + padding - 1))
    return PCKVGRR(n_keys, padding, keep, (1 - keep) / (n_keys + padding - 1), ratio / (ratio + 1))


def _key_value() -> list[Defect]:
    """Defects of key-value mechanisms."""
    grr = PCKVGRR.from_exp_budgets(FOUR, TWO, n_keys=3, padding=2)
    real_keys = FOUR / (FOUR + grr.n_keys - 1)
    ue = PCKVUE.from_exp_budgets(TWO, TWO, n_keys=2, padding=1)
    privkv = PrivKV.from_exp_budgets(TWO, TWO, n_keys=2, fake_value=1)
    length = 3
    right = _optimal_grr(length * (FOUR - 1) + 1, 3, length)
    rows = [
        _mechanism(
            "GRR over d",
            "Probabilities are computed for d keys, reports range over d' = d + l.",
            "the dummies of padding are easily forgotten in one of two places",
            replace(grr, keep_key=real_keys, fake_key=(1 - real_keys) / (grr.width - 1)),
            grr,
        ),
        _mechanism(
            "value flipped at whole budget",
            "The value is flipped with the probability for ε instead of ε / 2.",
            "one variable for both budgets",
            replace(privkv, keep_sign=Fraction(4, 5)),
            privkv,
        ),
        _mechanism(
            "budget counted twice",
            "Key and value each spend the whole budget.",
            "sequential composition is left out",
            replace(privkv, keep_key=Fraction(4, 5), keep_sign=Fraction(4, 5)),
            privkv,
        ),
        _mechanism(
            "no fake values",
            "A key that was not sampled is reported as +1, never as −1.",
            "the fair coin of PCKV-UE's third line is left out",
            _NoFakeValues(ue.n_keys, ue.padding, ue.keep_key, ue.fake_key, ue.keep_sign),
            ue,
        ),
        _mechanism(
            "padding dropped",
            "A pair is sampled from the user's own list, the budget is amplified as if padded.",
            "short lists look as if they needed no padding",
            _NoPadding(3, length, right.keep_key, right.fake_key, right.keep_sign),
            right,
            empty=False,
        ),
        _mechanism(
            "budget amplified l times",
            "Sampling one of l pairs is taken to allow l ε in place of ln(1 + l (e^ε − 1)).",
            "a rule of thumb in place of the theorem",
            _optimal_grr(FOUR**length, 3, length),
            right,
        ),
        _mechanism(
            "sign kept on a fake key",
            "A key that was not sampled carries the sampled sign instead of a fair one.",
            "the sign is drawn before the key",
            _SignKept(2, 1, grr.keep_key, (1 - grr.keep_key) / 2, grr.keep_sign),
            PCKVGRR(2, 1, grr.keep_key, (1 - grr.keep_key) / 2, grr.keep_sign),
        ),
        _mechanism(
            "signs swapped",
            "p and 1 − p are exchanged: every mean is estimated with the wrong sign.",
            "two branches in the wrong order",
            replace(grr, keep_sign=1 - grr.keep_sign),
            grr,
            reason=UTILITY,
        ),
    ]
    # The position of the sampled pair in the padded list goes along.
    channel = right.channel()
    law = channel.weights / Fraction(channel.denominator)
    whole = [law[2 * key] for key in range(length)]
    dummies = [(law[2 * (3 + j)] + law[2 * (3 + j) + 1]) / 2 for j in range(length)]
    owners = {key: 1 for key in range(length)}
    rows.append(
        Defect(
            "position sent",
            LOCAL,
            "The place of the sampled pair in the padded list is sent along.",
            "a step of HISKV as printed; sampling then amplifies nothing",
            f"{_user(owners)} against {{}}",
            PureDP(privacy.worst_ratio(right, privacy.extreme_users(3, empty=True)).epsilon),
            Coded(
                _tuple(np.concatenate(whole) / Fraction(length)),
                _tuple(np.concatenate(dummies) / Fraction(length)),
            ),
            _reports(right, [owners, {}]),
        )
    )
    small = PCKVGRR.from_exp_budgets(FOUR, TWO, n_keys=2, padding=1)
    coded = _reports(small, [{0: 1}, {}])
    zero = Fraction(0)
    rows.append(
        Defect(
            "silent user",
            LOCAL,
            "A user without any pair sends nothing.",
            "an empty list skips the loop that reports",
            "{0: +1} against {}",
            PureDP(privacy.worst_ratio(small, privacy.extreme_users(2, empty=True)).epsilon),
            Coded((*coded.law_p, zero), (*(zero for _ in coded.law_q), Fraction(1))),
            coded,
        )
    )
    for size in (12, 686):
        keep = FOUR / (FOUR + size - 1)
        flip = keep / 2
        rest = (1 - keep - flip) / (size - 2)
        other = (1 - keep) / (size - 1)
        rows.append(
            Defect(
                f"flip too likely, {size} symbols",
                LOCAL,
                "The other sign gets more than its share, at the expense of all other symbols.",
                "one reading of the lost condition of HISKV",
                "symbol 0 against symbol 2",
                PureDP(math.log(4)),
                Coded(_symbol(keep, flip, rest, size, 0), _symbol(keep, flip, rest, size, 2)),
                Coded(_symbol(keep, other, other, size, 0), _symbol(keep, other, other, size, 2)),
                reason=RARE if size > 100 else "",
            )
        )
    return rows


def _symbol(keep: Any, flip: Any, other: Any, size: int, symbol: int) -> tuple[Any, ...]:
    law = [other] * size
    law[symbol], law[symbol ^ 1] = keep, flip
    return tuple(law)


def _bits(p: Any, q: Any, width: int = 3, pair: tuple[int, int] = (0, 1)) -> Coded:
    """Unary encoding on two categories."""
    channel = channels.binary_unary_channel(p, q, width)
    law = channel.weights / Fraction(channel.denominator)
    return Coded(_tuple(law[pair[0]]), _tuple(law[pair[1]]))


def _answer(p: Any, q: Any) -> Coded:
    """One bit that is 1 with probability p on D and q on D'."""
    return Coded((1 - p, p), (1 - q, q))


def _frequency() -> list[Defect]:
    """Defects of frequency oracles and of single values."""
    oue, sue = UE.oue(FOUR, n_keys=3), UE.rappor(FOUR, n_keys=3)
    p, q = oue.keep_key, oue.fake_key
    basic, wrong = sue.keep_key, sue.fake_key
    claim = PureDP(math.log(4))
    f = Fraction(3, 4)
    size, hashed = 8, 5
    grr = FOUR / (FOUR + size - 1)
    loose = grr + (1 - grr) / size
    olh = FOUR / (FOUR + 20 - 1)
    # Duchi's law of one bit, linear in the value; the library itself refuses 1.5.
    high, low = ((1 + v * (FOUR - 1) / (FOUR + 1)) / 2 for v in (Fraction(3, 2), -Fraction(3, 2)))
    twice = Fraction(4, 5), Fraction(1, 5)
    first, second = (
        tuple(a * b for a, b in itertools.product(side, side)) for side in (twice, twice[::-1])
    )
    once = Fraction(2, 3), Fraction(1, 3)
    right = [tuple(a * b for a, b in itertools.product(s, s)) for s in (once, once[::-1])]
    categories = "category 0 against category 1"
    rows = [
        (
            "RAPPOR never clears",
            "A bit that is 1 is never set to 0.",
            "client of pure-ldp 1.2.0, measured",
            categories,
            PureDP(2 * math.log(5 / 3)),
            _bits(Fraction(1), f / 2),
            _bits(1 - f / 2, f / 2),
        ),
        (
            "own bit flipped twice",
            "Own bit of OUE: kept with p, and flipped like the others when not kept.",
            "issue 11 of pure-LDP, fixed in 1.2.0",
            categories,
            claim,
            _bits(p + (1 - p) * q, q),
            _bits(p, q),
        ),
        (
            "own bit flipped twice, SUE",
            "The same mistake in the symmetric encoding.",
            "issue 11 of pure-LDP, fixed in 1.2.0",
            categories,
            claim,
            _bits(basic + (1 - basic) * wrong, wrong),
            _bits(basic, wrong),
        ),
        (
            "whole budget on each bit",
            "Each of the two bits in which categories differ spends ε.",
            "half of the budget is left out of the symmetric encoding",
            categories,
            claim,
            _bits(Fraction(4, 5), Fraction(1, 5)),
            _bits(basic, wrong),
        ),
        (
            "boolean response",
            "The truth is kept with p + (1 − p) p where p was calibrated.",
            "issue 480 of opendp",
            "yes against no",
            claim,
            _answer(Fraction(24, 25), Fraction(1, 25)),
            _answer(Fraction(4, 5), Fraction(1, 5)),
        ),
        (
            "truth among the others",
            "Other category drawn from all categories, the true one included.",
            "a uniform draw without the step over the own category",
            categories,
            claim,
            Coded(
                _categories(loose, size, 0),
                _categories(loose, size, 1),
            ),
            Coded(_categories(grr, size, 0), _categories(grr, size, 1)),
        ),
        (
            "rounds not split",
            "Two rounds, each at the whole budget.",
            "later rounds of PrivKVM share one budget; a loop repeats it",
            "yes against no",
            claim,
            Coded(first, second),
            Coded(right[0], right[1]),
        ),
        (
            "value not clipped",
            "A value of 1.5 reaches the randomiser made for [−1, 1].",
            "out-of-range input is accepted by several libraries",
            "1.5 against −1.5",
            claim,
            _answer(high, low),
            _answer(Fraction(4, 5), Fraction(1, 5)),
        ),
    ]
    built = [Defect(row[0], LOCAL, *row[1:]) for row in rows]
    built += [
        Defect(
            "hashing over d",
            LOCAL,
            "Local hashing keeps a bucket with the probability for d = 20 categories, not for the "
            "5 buckets.",
            "two sizes with similar names",
            "two categories in different buckets",
            claim,
            Coded(_categories(olh, hashed, 0), _categories(olh, hashed, 1)),
            Coded(_categories(Fraction(1, 2), hashed, 0), _categories(Fraction(1, 2), hashed, 1)),
            WITHIN,
        ),
        Defect(
            "only category 0",
            LOCAL,
            "Own bit of OUE is flipped twice, for category 0 only.",
            "index maps treat the first value apart; pure-ldp counts value 0 as d",
            "category 1 against category 2",
            claim,
            _bits(p, q, pair=(1, 2)),
            _bits(p, q, pair=(1, 2)),
            ELSEWHERE,
            _first_only(p, q),
        ),
    ]
    return built


def _categories(keep: Any, size: int, own: int) -> tuple[Any, ...]:
    return tuple(keep if code == own else (1 - keep) / (size - 1) for code in range(size))


def _first_only(p: Any, q: Any) -> Coded:
    """Category 0 with the defect against category 1 without."""
    return Coded(_bits(p + (1 - p) * q, q).law_p, _bits(p, q).law_q)


def _svt_without_query_noise(budget: float) -> Coded:
    """Two queries, (0, 1) against (1, 0), and a threshold 1/2 + Lap(2 / budget).

    Answers below-below, below-above, above-below, above-above.
    """
    high = 0.5 * math.exp(-0.5 * budget / 2)  # noise above 1/2, or below -1/2
    middle = 1 - 2 * high
    return Coded((high, middle, 0.0, high), (high, 0.0, middle, high))


def _svt(count: int, threshold: float, budget: float, *, noisy: bool) -> Coded:
    """Place of the first of `count` equal queries above the threshold; none is the last code.

    Queries are 0 on D and 1 on D'. Without a noisy threshold each query has the noise that one
    query needs, Lap(2 / budget); the correct one has Lap(4 / budget) and a threshold with
    Lap(2 / budget).
    """
    if noisy:
        kinks = (threshold, threshold - 1)  # threshold noise at which a query has even odds
        ends = sorted({-80 / budget, *(-k for k in kinks), 0.0, 80 / budget})
        nodes, weights = _panels(ends, 200)
        weights = weights * stats.laplace.pdf(nodes, 0.0, 2 / budget)
        weights /= weights.sum()
        scale = 4 / budget
    else:
        nodes, weights, scale = np.zeros(1), np.ones(1), 2 / budget
    laws = []
    for query in (0.0, 1.0):
        below = stats.laplace.cdf(threshold + nodes - query, 0.0, scale)[:, None]
        place = np.arange(count)
        law = weights @ (below**place * (1 - below))
        laws.append((*law.tolist(), 1 - float(law.sum())))
    return Coded(laws[0], laws[1])


def _noisy_max(count: int, scale: float) -> Coded:
    """Whether candidate 0 wins: scores (1, 0, ..., 0) against (0, 1, ..., 1)."""
    wins = []
    for own, others in ((1.0, 0.0), (0.0, 1.0)):
        nodes, weights = _panels((-40 * scale, 0.0, 1.0, 40 * scale), 400)
        density = weights * stats.laplace.pdf(nodes, own, scale)
        wins.append(float(density @ stats.laplace.cdf(nodes, others, scale) ** (count - 1)))
    return Coded((wins[0], 1 - wins[0]), (wins[1], 1 - wins[1]))


def _grid(shift: float, budget: float) -> Coded:
    """Discrete Laplace noise on whole numbers plus a value; codes of the outputs, cut at +-60.

    A shift of 1 keeps outputs on the grid. A shift of 1/2 moves all of them off it.
    """
    k = np.arange(-60, 61)
    law = np.exp(-budget * np.abs(k))
    law /= law.sum()
    if shift == 1:
        return Coded((*law.tolist(), 0.0), (0.0, *law.tolist()))
    empty = [0.0] * len(k)
    return Coded((*law.tolist(), *empty), (*empty, *law.tolist()))


def _rounded_grid(budget: float) -> Coded:
    """The value 1/2 is rounded up to the grid before the noise; tails are folded in."""
    k = np.arange(-60, 62)
    ratio = math.exp(-budget)
    inner = (1 - ratio) / (1 + ratio)
    laws = []
    for centre in (0, 1):
        law = inner * np.exp(-budget * np.abs(k - centre))
        for end in (0, -1):
            law[end] = np.exp(-budget * abs(k[end] - centre)) / (1 + ratio)
        laws.append(tuple(law.tolist()))
    return Coded(laws[0], laws[1])


def _composed(steps: int, budget: float) -> Coded:
    """Number of yes among randomised responses, all of one person."""
    p = 1 / (1 + math.exp(-budget))
    k = np.arange(steps + 1)
    laws = [stats.binom.pmf(k, steps, v) for v in (1 - p, p)]
    return Coded(*(tuple((law / law.sum()).tolist()) for law in laws))


def _advanced(steps: int, budget: float, delta: float | None) -> float:
    """Epsilon of `steps` uses by advanced composition; without its logarithm for delta None."""
    log = 1.0 if delta is None else math.log(1 / delta)
    return budget * math.sqrt(2 * steps * log) + steps * budget * math.expm1(budget)


def _central() -> list[Defect]:
    """Defects of a curator's mechanisms."""
    half, one = PureDP(0.5), PureDP(1.0)
    delta = 1e-5
    classical = math.sqrt(2 * math.log(1.25 / delta))
    gauss = GaussianDP(1 / classical)
    ten = ApproximateDP(10.0, delta)
    exact_mu = float(
        optimize.brentq(lambda mu: GaussianDP(mu).log_delta_at(10.0) - math.log(delta), 0.5, 5.0)
    ) * (1 - 1e-9)
    unit = "count 0 against count 1"
    laplace2 = _shifted("laplace", 1.0, 2.0)
    laplace1 = _shifted("laplace", 1.0, 1.0)
    steps, each = 64, 0.1
    share = 0.1
    rows: list[tuple[Any, ...]] = [
        (
            "noise divided by dimension",
            "The scale of a histogram's noise is divided by its four dimensions.",
            "issue 472 of smartnoise-sdk",
            unit,
            half,
            _shifted("laplace", 1.0, 0.5),
            laplace2,
        ),
        (
            "variance for deviation",
            "The standard deviation is used as a variance: noise of √2 in place of 2.",
            "a squared scale in issue 316 of smartnoise-core",
            unit,
            GaussianDP(0.5),
            _shifted("normal", 1.0, math.sqrt(2)),
            _shifted("normal", 1.0, 2.0),
        ),
        (
            "deviation for variance",
            "The reverse: noise of 4 in place of 2.",
            "a squared scale in issue 316 of smartnoise-core",
            unit,
            GaussianDP(0.5),
            _shifted("normal", 1.0, 4.0),
            _shifted("normal", 1.0, 2.0),
            UTILITY,
        ),
        (
            "unclipped copy released",
            "A clipped copy is made, the unclipped value 3 is used.",
            "issue 622 of smartnoise-sdk",
            "value 0 against value 3, bound 1",
            half,
            _shifted("laplace", 3.0, 2.0),
            laplace2,
        ),
        (
            "clipping after noise",
            "Noise for a range of 1 is added to the value 3, then the result is clipped to [0, 1].",
            "two lines in the wrong order",
            "value 0 against value 3, bound 1",
            half,
            Real(_laplace(0.0, 2.0, (0.0, 1.0)), _laplace(3.0, 2.0, (0.0, 1.0))),
            Real(_laplace(0.0, 2.0, (0.0, 1.0)), _laplace(1.0, 2.0, (0.0, 1.0))),
        ),
        (
            "sensitivity halved",
            "Values in [−1, 1], a record is replaced: the sum moves by 2, the noise is for 1.",
            "two notions of neighbour in one program",
            "value −1 against value 1",
            half,
            _shifted("laplace", 2.0, 2.0),
            _shifted("laplace", 2.0, 4.0),
        ),
        (
            "sensitivity from the lower bound",
            "The range [−1, 5] is taken to have sensitivity 1.",
            "issue 104 of diffprivlib",
            "no record against value 5",
            half,
            _shifted("laplace", 5.0, 2.0),
            _shifted("laplace", 5.0, 10.0),
        ),
        (
            "count leaked",
            "The noise of a mean is divided by the true number of records.",
            "NonDPLaplace1 of the auditing papers",
            "(0) against (0, 1)",
            PureDP(0.1),
            Real(_laplace(0.0, 20.0), _laplace(0.5, 10.0)),
            Real(_laplace(0.0, 10.0), _laplace(0.5, 10.0)),
        ),
        (
            "batch size leaked",
            "A noisy sum over two or three rows is divided by their number.",
            "thread 571 of opacus",
            "two rows of 0 against these and a 1",
            GaussianDP(0.5),
            Real(_normal(0.0, 1.0), _normal(1 / 3, 2 / 3)),
            Real(_normal(0.0, 1.0), _normal(0.5, 1.0)),
        ),
        (
            "exact mean when the count fails",
            "The noise scale comes from a noisy count; a count below 0 leaves no noise.",
            "private_mean of DP-Auditorium, measured",
            "(0) against (0, 1)",
            one,
            ClampedCount(1.0),
            NoisyMean(1.0),
        ),
        (
            "empty bins left out",
            "Only bins with records get noise; empty ones stay 0.",
            "sparse histograms without a threshold",
            unit,
            one,
            Real(Noise("laplace", ((1.0, 0.0, 0.0),)), _laplace(1.0, 1.0)),
            laplace1,
        ),
        (
            "top noise removed",
            "The sum of a finished block is released without its noise.",
            "a variant of SmartSum, issue 1 of dp-finder",
            unit,
            one,
            Real(Noise("laplace", ((1.0, 0.0, 0.0),)), Noise("laplace", ((1.0, 1.0, 0.0),))),
            laplace1,
        ),
        (
            "queries without noise",
            "Sparse vector: the threshold is noisy, the queries are not.",
            "a published variant of the sparse vector technique",
            "queries (0, 1) against (1, 0)",
            one,
            _svt_without_query_noise(1.0),
            _svt(2, 0.5, 1.0, noisy=True),
        ),
        (
            "noisy threshold missing",
            "Sparse vector: answers 'below' are free only if the threshold is noisy.",
            "a published variant of the sparse vector technique",
            "20 queries at 0 against 20 at 1",
            one,
            _svt(20, 2.0, 1.0, noisy=False),
            _svt(20, 2.0, 1.0, noisy=True),
        ),
        (
            "maximum with half the noise",
            "Report noisy max of scores that may move both ways, with noise for one way.",
            "monotone scores need half as much noise; these are not monotone",
            "scores (1, 0, …) against (0, 1, …), 10 candidates",
            one,
            _noisy_max(10, 1.0),
            _noisy_max(10, 2.0),
        ),
        (
            "odometer without log",
            "Advanced composition without log(1/δ) in its root.",
            "issue 621 of smartnoise-sdk",
            f"{steps} randomised responses at ε = {each:g}",
            ApproximateDP(_advanced(steps, each, None), delta),
            _composed(steps, each),
            _composed(steps // 16, each),
        ),
        (
            "composition left out",
            "Four releases with μ = 1/2 each, whose mean is used, claim μ = 1/2 in all.",
            "a budget that is never deducted",
            unit,
            GaussianDP(0.5),
            _shifted("normal", 1.0, 1.0),
            _shifted("normal", 1.0, 2.0),
        ),
        (
            "amplified without sampling",
            "The budget is amplified for a sampling rate of 1/10, every record is used.",
            "batches are cut from a fixed order; the accountant assumes Poisson sampling",
            unit,
            PureDP(math.log1p(share * math.expm1(1.0))),
            laplace1,
            Real(
                _laplace(0.0, 1.0),
                Noise("laplace", ((1 - share, 0.0, 1.0), (share, 1.0, 1.0))),
            ),
        ),
        (
            "noise on a grid, value off it",
            "Noise takes whole values, the value 1/2 is not rounded first.",
            "floating-point noise, issues 19 and 94 of diffprivlib, made coarse",
            "value 0 against value 1/2",
            one,
            _grid(0.5, 1.0),
            _rounded_grid(1.0),
        ),
        (
            "wrong logarithm, as μ",
            "Gaussian noise is calibrated with log10 in place of ln; the claim is a curve.",
            "a wrong calibration in issue 316 of smartnoise-core",
            unit,
            gauss,
            _shifted("normal", 1.0, classical / math.sqrt(math.log(10))),
            _shifted("normal", 1.0, classical),
        ),
        (
            "wrong logarithm, as (ε, δ)",
            "The same noise; the claim is (1, 1e-5).",
            "a wrong calibration in issue 316 of smartnoise-core",
            unit,
            ApproximateDP(1.0, delta),
            _shifted("normal", 1.0, classical / math.sqrt(math.log(10))),
            _shifted("normal", 1.0, classical),
            RARE,
        ),
        (
            "δ forgotten",
            "Gaussian noise for (1, 1e-5), claimed as ε = 1.",
            "δ is dropped from a report",
            unit,
            one,
            _shifted("normal", 1.0, classical),
            laplace1,
            RARE,
        ),
        (
            "classical formula at ε = 10",
            "σ = √(2 ln(1.25/δ)) / ε is proved for ε ≤ 1 only.",
            "the formula is used for any ε in several libraries",
            unit,
            ten,
            _shifted("normal", 1.0, classical / 10),
            _shifted("normal", 1.0, 1 / exact_mu),
            RARE,
        ),
        (
            "raw value in 1 of 50",
            "An error path releases the value itself, once in 50 calls.",
            "retries and logs bypass the noise",
            unit,
            one,
            _leaking(0.02),
            laplace1,
        ),
        (
            "raw value in 1 of 100,000",
            "The same, once in 100,000 calls.",
            "retries and logs bypass the noise",
            unit,
            one,
            _leaking(1e-5),
            laplace1,
            RARE,
        ),
    ]
    return [Defect(row[0], CENTRAL, *row[1:]) for row in rows]


def _leaking(share: float) -> Real:
    return Real(
        Noise("laplace", ((1 - share, 0.0, 1.0), (share, 0.0, 0.0))),
        Noise("laplace", ((1 - share, 1.0, 1.0), (share, 1.0, 0.0))),
    )


@functools.cache
def catalogue() -> tuple[Defect, ...]:
    """All planted defects, local ones first.

    Returns
    -------
    tuple of Defect
        Names are unique.
    """
    return (*_key_value(), *_frequency(), *_central())


# --- what can be known before anything is drawn ---------------------------------------------

_FLAGGED = 1e-9  # gap of a broken claim; cells of real outputs have errors of about 1e-13


def exact_checks(profile: str = "quick") -> Result:
    """Check every defect and every twin against its claim, and find the floors.

    Parameters
    ----------
    profile : {"quick", "paper"}
        The same for both: nothing is drawn.

    Returns
    -------
    Result
        One row a defect: its exact epsilon, the largest gap f - T, the floor between two certified
        numbers, and the largest power that any audit of `HORIZON` pairs can have.
    """
    check_profile(profile)
    table = pd.DataFrame([_checked(defect) for defect in catalogue()])
    planted = table["reason"].isin(["", RARE])
    facts = {
        "defects": len(table),
        "broken": int(np.sum(table["gap"] > _FLAGGED)),
        "wrong": list(table.loc[planted != (table["gap"] > _FLAGGED), "defect"]),
        "wrong_twins": list(table.loc[table["twin_gap"] > _FLAGGED, "defect"]),
        "no_slip": list(table.loc[~_reason_holds(table), "defect"]),
        "reasons": {reason: int(np.sum(table["reason"] == reason)) for reason in REASONS},
        "within_reach": int(np.sum(table["floor"] <= REACH)),
        "loosest": float(table["looseness"].max()) - 1,
    }
    setting = f"{len(table)} defects, level {LEVEL:g}"
    return Result(profile, table, facts, setting)


@functools.cache
def _floor(defect: Defect) -> InformationFloor:
    laws = defect.outputs.laws()
    if not isinstance(defect.outputs, Coded):
        laws = merge_cells(*laws, FINE_CELLS if defect.reason == RARE else CELLS)
    return information_floor(*laws, defect.claim, LEVEL)


def _shown(floor: float) -> float:
    """Floors of violations near the resolution of the programme are not stable numbers."""
    return min(floor, MOST) if math.isfinite(floor) else floor


def _checked(defect: Defect) -> dict[str, Any]:
    found = _floor(defect)
    floor = _shown(found.low)
    elsewhere = math.nan
    if defect.elsewhere is not None:
        elsewhere = largest_gap(*defect.elsewhere.laws(), defect.claim)
    return {
        "defect": defect.name,
        "family": defect.family,
        "reason": defect.reason,
        "claim": claim_name(defect.claim),
        "ε": defect.outputs.epsilon(),
        "twin ε": defect.twin.epsilon(),
        "gap": largest_gap(*defect.outputs.laws(), defect.claim),
        "twin_gap": largest_gap(*defect.twin.laws(), defect.claim),
        "elsewhere_gap": elsewhere,
        "floor": floor,
        "looseness": found.high / found.low if floor < MOST else 1.0,
        "power": most_power(floor),
    }


def _reason_holds(table: pd.DataFrame) -> pd.Series:
    """Whether the reason given for a defect that is not caught is the one computed."""
    kept = table["gap"] <= _FLAGGED
    rare = (table["gap"] > _FLAGGED) & (table["power"] < RARE_POWER)
    seen = kept & (table["elsewhere_gap"] > _FLAGGED)
    reason = table["reason"]
    return (
        (reason == "")
        | (reason.isin([UTILITY, WITHIN]) & kept & table["elsewhere_gap"].isna())
        | ((reason == ELSEWHERE) & seen)
        | ((reason == RARE) & rare)
    )


def most_power(floor: float, pairs: int = HORIZON, level: float = LEVEL) -> float:
    """Largest probability of rejecting within so many pairs that any audit can have.

    Parameters
    ----------
    floor : float
        `InformationFloor.low`, above 0; may be infinite.
    pairs : int
        Horizon n.
    level : float
        gamma.

    Returns
    -------
    float
        The r >= gamma with ``kl(r, gamma) = n KL_inf``, kl between coins; 1 when n is large.

    Notes
    -----
    n pairs of the two worlds differ by ``n KL_inf`` nats, and "the audit rejects" is a function of
    them, so that ``kl(r, gamma) <= n KL_inf`` (data processing).
    """
    nats = pairs * math.log(1 / level) / floor

    def excess(r: float) -> float:
        return float(special.rel_entr(r, level) + special.rel_entr(1 - r, 1 - level)) - nats

    if excess(1.0) <= 0:
        return 1.0
    return float(optimize.brentq(excess, level, 1.0, xtol=1e-12)) if nats > 0 else level


def claim_name(claim: TradeoffCurve) -> str:
    """A claim in short: "ε = 0.5", "μ = 0.5" or "ε = 1, δ = 1e-5"."""
    if isinstance(claim, GaussianDP):
        return f"μ = {claim.mu:.3g}"
    if isinstance(claim, ApproximateDP):
        return f"ε = {claim.epsilon:.3g}, δ = {claim.delta:g}"
    return f"ε = {getattr(claim, 'epsilon', math.nan):.3g}"


# --- the audit ------------------------------------------------------------------------------


def settings(defect: Defect, horizon: int = HORIZON) -> betting.Betting:
    """Give the audit of a defect: the defaults; atoms only where outputs are codes."""
    common = betting.Betting(defect.claim, level=LEVEL, horizon=horizon)
    if isinstance(defect.outputs, Coded):
        return replace(common, learners=(Densities(),))
    return common


def audits(profile: str = "quick", seed: int = 2026) -> Result:
    """Audit every defect and every twin, from samples only.

    Parameters
    ----------
    profile : {"quick", "paper"}
        200 runs of up to 10,000 pairs each; or 20 runs of the defects within reach, and fewer or
        shorter ones of the rest.
    seed : int, default 2026
        Seed of the repetitions.

    Returns
    -------
    Result
        One row a defect: runs, share caught, median and 95 % point of the pairs at rejection, where
        runs that did not reject count as infinite. The facts hold a row for each different twin.
    """
    check_profile(profile)
    defects = catalogue()
    seeds = np.random.default_rng(seed).integers(2**62, size=(2, len(defects)))
    rows = []
    for defect, own in zip(defects, seeds[0], strict=True):
        floor = _shown(_floor(defect).low)
        repeats, horizon = _effort(profile, floor)
        stops = _stops(defect, defect.outputs, repeats, horizon, int(own), profile)
        rows.append(
            {"defect": defect.name, "family": defect.family, "floor": floor} | _row(stops, horizon)
        )
    twins, seen = [], set()
    for defect, own in zip(defects, seeds[1], strict=True):
        key = (defect.twin, defect.claim)
        if key not in seen:
            seen.add(key)
            repeats, horizon = (REPEATS[profile], HORIZON) if profile == "paper" else (6, 200)
            stops = _stops(defect, defect.twin, repeats, horizon, int(own), profile)
            twins.append({"twin of": defect.name} | _row(stops, horizon))
    table, correct = pd.DataFrame(rows), pd.DataFrame(twins)
    kept = pd.concat([correct, table[np.isinf(table["floor"])]])
    reach = table[table["floor"] <= REACH]
    facts = {
        "reach": reach,
        "null": kept.reset_index(drop=True),
        "twins": len(correct),
        "least_caught": float(reach["caught"].min()),
        "slowest": float(reach["95 %"].max()),
        "price": float((reach["mean"] / reach["floor"]).median()),
        "null_hits": int(kept["hits"].sum()),
        "null_runs": int(kept["runs"].sum()),
    }
    setting = f"{int(table['runs'].max())} runs of up to {HORIZON:,} pairs, level {LEVEL:g}"
    return Result(profile, table, facts, setting)


def _effort(profile: str, floor: float) -> tuple[int, int]:
    """Runs, and pairs in each."""
    if profile == "paper":
        return REPEATS[profile], HORIZON
    if floor <= REACH:
        return REPEATS[profile], HORIZON
    return (3, 2_000) if floor <= HORIZON else (6, 200)


def _stops(
    defect: Defect, outputs: Outputs, repeats: int, horizon: int, seed: int, profile: str
) -> NDArray[np.int64]:
    return betting.run_many(
        settings(defect, horizon),
        outputs.sample,
        repeats=repeats,
        rng=seed,
        n_jobs=N_JOBS[profile],
    )


def _row(stops: NDArray[np.int64], horizon: int) -> dict[str, Any]:
    """Numbers of one audit."""
    caught = stops != NOT_REJECTED
    ordered = np.sort(np.where(caught, stops, np.inf))
    used = np.where(caught, stops, horizon).astype(np.float64)
    last = len(ordered) - 1
    return {
        "runs": len(stops),
        "pairs": horizon,
        "hits": int(caught.sum()),
        "caught": float(caught.mean()),
        "median": float(ordered[last // 2]),
        "95 %": float(ordered[math.ceil(0.95 * len(ordered)) - 1]),
        "mean": float(used.mean()),
        "error": float(used.std(ddof=1)) / math.sqrt(len(used)),
    }


# --- where a small floor does not help ------------------------------------------------------

GRID = 2.0**-30


def fine_grid(n: int, *, rng: Rng = None) -> tuple[Floats, Floats]:
    """Draw outputs of a Laplace mechanism: noise on a grid of 2^-30, values off it.

    Parameters
    ----------
    n : int
        Outputs on D (value 0) and on D' (value 1/3).
    rng : numpy.random.Generator or seed, optional
        Passed through `numpy.random.default_rng`.

    Returns
    -------
    x, y : ndarray of float64, shape (n,)
        x holds whole multiples of the grid, y none.
    """
    noise = np.random.default_rng(rng).laplace(size=(2, n))
    noise = np.round(noise / GRID) * GRID
    return noise[0], noise[1] + 1 / 3


def off_grid(outputs: Floats) -> Floats:
    """Distance of outputs from the grid point below, in grid steps, to three decimals."""
    return np.asarray(np.round(np.mod(outputs / GRID, 1.0), 3) % 1.0, dtype=np.float64)


def low_bits(profile: str = "quick", seed: int = 11) -> Result:
    """Audit the fine grid from its outputs, and from a score that looks at the low-order bits.

    Parameters
    ----------
    profile : {"quick", "paper"}
        10 runs of up to 2,000 pairs, or 100 of up to 10,000.
    seed : int, default 11
        Seed of the repetitions.

    Returns
    -------
    Result
        One row for each view of the outputs.
    """
    check_profile(profile)
    repeats, horizon = (100, HORIZON) if profile == "paper" else (10, 2_000)
    claim = PureDP(1.0)
    floor = information_floor([1, 0], [0, 1], claim, LEVEL).low

    def bits(n: int, *, rng: Rng = None) -> tuple[Floats, Floats]:
        x, y = fine_grid(n, rng=rng)
        return off_grid(x), off_grid(y)

    rows = []
    for view, source in (("the outputs themselves", fine_grid), ("their low-order bits", bits)):
        stops = betting.run_many(
            betting.Betting(claim, level=LEVEL, horizon=horizon), source, repeats=repeats, rng=seed
        )
        rows.append({"audit sees": view, "floor": floor} | _row(stops, horizon))
    table = pd.DataFrame(rows)
    x, y = fine_grid(1_000, rng=seed)
    facts = {
        "disjoint": bool(np.all(off_grid(x) == 0) and np.all(off_grid(y) != 0)),
        "floor": floor,
        "raw_hits": int(table["hits"][0]),
        "raw_p": float(stats.binom.sf(table["hits"][0] - 1, repeats, LEVEL)),
        "score_hits": int(table["hits"][1]),
        "score_slowest": float(table["95 %"][1]),
        "runs": repeats,
        "horizon": horizon,
    }
    return Result(profile, table, facts, f"{repeats} runs of up to {horizon:,} pairs")


# --- tables and figures ---------------------------------------------------------------------


def description_table(family: str) -> pd.DataFrame:
    """What each defect of a family is, and where it was seen."""
    return pd.DataFrame(
        [
            {"defect": d.name, "mistake": d.what, "seen": d.where, "inputs": d.inputs}
            for d in catalogue()
            if d.family == family
        ]
    )


def caught_table(exact: Result, audited: Result, family: str) -> pd.DataFrame:
    """Claim, truth, gap, floor and the audit's pairs for each defect of a family."""
    rows = []
    both = exact.table.merge(audited.table, on=["defect", "family"], suffixes=("", " audit"))
    for row in both[both["family"] == family].to_dict("records"):
        ended = [
            f"{row[name]:,.0f}" if math.isfinite(row[name]) else f"over {row['pairs']:,}"
            for name in ("median", "95 %")
        ]
        rows.append(
            {
                "defect": row["defect"],
                "claim": row["claim"],
                "exact ε": row["ε"],
                "f − T": max(row["gap"], 0.0),
                "floor": row["floor"],
                "median": ended[0],
                "95 %": ended[1],
            }
        )
    return pd.DataFrame(rows)


def unseen_table(exact: Result) -> pd.DataFrame:
    """Defects that no audit of their pair can catch, and why."""
    part = exact.table[exact.table["reason"] != ""]
    return pd.DataFrame(
        {
            "defect": part["defect"],
            "why": part["reason"],
            "claim": part["claim"],
            "f − T": np.maximum(part["gap"], 0.0),
            "floor": part["floor"],
            f"largest power at {HORIZON:,}": part["power"],
        }
    )


def draw_floors(audited: Result) -> Figure:
    """Draw pairs needed against the floor, for defects within reach."""
    figure, axis = plots.new_figure(height=4.2)
    for which in ("x", "y"):
        plots.log_axis(axis, which)
    ends = np.array([3.0, HORIZON * 1.6])
    axis.plot(ends, ends, color=plots.BLACK, linewidth=0.8)
    axis.axvline(REACH, color=plots.GREY, linewidth=0.8, linestyle=":")
    axis.axhline(HORIZON, color=plots.GREY, linewidth=0.8, linestyle="--")
    shown = audited.table[audited.table["floor"] <= REACH]
    for position, (family, part) in enumerate(shown.groupby("family", sort=False)):
        look = plots.style(str(family), position) | {"linestyle": "", "markersize": 5}
        median = np.minimum(part["median"], part["pairs"])
        top = np.minimum(part["95 %"], part["pairs"])
        axis.plot(part["floor"], median, label=f"{family} mechanisms", **look)
        axis.vlines(part["floor"], median, top, color=look["color"], linewidth=1.2)
    axis.set_xlim(ends)
    axis.set_ylim(3.0, HORIZON * 1.6)
    axis.set_xlabel("information floor (pairs)")
    axis.set_ylabel("pairs until caught")
    axis.text(60, 25, "the floor: no mean lies below", fontsize="small")
    axis.text(3.3, HORIZON * 0.72, "end of the audit", fontsize="small", color=plots.GREY)
    axis.legend(frameon=False, loc="lower right", fontsize="small")
    return figure


# --- judges ---------------------------------------------------------------------------------


def _judge_exact(result: Result) -> Evidence:
    facts = result.facts
    wrong = [*facts["wrong"], *facts["wrong_twins"]]
    return exact_if(
        not wrong,
        f"{facts['broken']} of {facts['defects']} defects break their claim on their pair, "
        f"{len(facts['wrong_twins'])} twins do" + (f"; wrong: {', '.join(wrong)}" if wrong else ""),
        "every defect planted to break its claim does, no twin does",
        note="Finite laws are enumerated; real outputs are cut into cells, which can hide a gap "
        f"but not make one. {facts['within_reach']} floors are at most {REACH:,} pairs.",
    )


def _judge_unseen(result: Result) -> Evidence:
    facts = result.facts
    counts = "; ".join(f"{reason}: {n}" for reason, n in facts["reasons"].items())
    slips = facts["no_slip"]
    return exact_if(
        not slips and all(facts["reasons"].values()),
        counts + (f"; reason not confirmed: {', '.join(slips)}" if slips else ""),
        "each reason occurs, and is the computed one",
        note=f"Rare means that no audit of 10,000 pairs rejects with probability above "
        f"{RARE_POWER:g} without rejecting true claims too often.",
    )


def _judge_caught(result: Result) -> Evidence:
    reach = result.facts["reach"]
    chance = stats.binom.cdf(reach["hits"], reach["runs"], POWER)
    failed = bool(np.any(chance < FALSE_ALARM / len(reach)))
    least = float(reach["caught"].min())
    verdict = DIFFERS if failed else WITHIN_ERROR if least >= POWER else SHAPE_ONLY
    return Evidence(
        verdict,
        f"{len(reach)} defects; each caught in at least {num(100 * least)} % of "
        f"{int(reach['runs'].min())} runs",
        f"at least {100 * POWER:g} %",
        tolerance="exact binomial tests, level shared",
        false_alarm=FALSE_ALARM,
        note="One configuration for all; where outputs are codes it learns atoms only.",
    )


def _judge_twins(result: Result) -> Evidence:
    null = result.facts["null"]
    chance = stats.binom.sf(null["hits"] - 1, null["runs"], LEVEL)
    failed = bool(np.any(chance < FALSE_ALARM / len(null)))
    return Evidence(
        DIFFERS if failed else WITHIN_ERROR,
        f"{int(null['hits'].sum())} of {int(null['runs'].sum()):,} runs rejected; at most "
        f"{num(100 * float(null['caught'].max()))} % of the runs of one mechanism",
        f"at most {100 * LEVEL:g} %",
        tolerance="exact binomial tests, level shared",
        false_alarm=FALSE_ALARM,
        note="Different twins, and defects that respect their claim on the pair audited.",
    )


def _judge_floor(result: Result) -> Evidence:
    reach = result.facts["reach"]
    # A few runs that end at the horizon lower the mean, and the floor by as much at least.
    sure = reach[reach["hits"] == reach["runs"]]
    z = (sure["mean"] - sure["floor"]) / np.maximum(sure["error"], 1e-9)
    critical = float(special.ndtri(FALSE_ALARM / max(len(sure), 1)))
    ratio = sure["mean"] / sure["floor"]
    return Evidence(
        DIFFERS if bool(np.any(z < critical)) else WITHIN_ERROR,
        f"means are {num(float(ratio.min()), 2)} to {num(float(ratio.max()), 2)} times the floor",
        "at least 1",
        tolerance="normal intervals, level shared",
        false_alarm=FALSE_ALARM,
        note="Defects that every run caught. Proved; a mean below its floor would be a bug in the "
        "floor or in the auditor.",
    )


def _judge_low_bits(result: Result) -> Evidence:
    facts = result.facts
    blind = facts["raw_p"] > FALSE_ALARM
    seen = facts["score_hits"] == facts["runs"] and facts["score_slowest"] <= 100
    return Evidence(
        WITHIN_ERROR if facts["disjoint"] and blind and seen else DIFFERS,
        f"from the outputs {facts['raw_hits']} of {facts['runs']} runs rejected within "
        f"{facts['horizon']:,} pairs; from the low-order bits {facts['score_hits']}, 95 % of them "
        f"within {facts['score_slowest']:.0f} pairs",
        f"about {num(100 * LEVEL)} % at most, and all",
        tolerance="exact binomial test",
        false_alarm=FALSE_ALARM,
        note=f"The floor is {num(facts['floor'], 2)} pairs: it speaks of the best audit, not of "
        "ours.",
    )


CLAIMS = (
    Claim(
        id="together-defects-exact",
        paper="together",
        label="Planted defects, exact check (own)",
        kind="statement",
        mark="own",
        statement="The exact check finds every planted defect that breaks its claim on its pair of "
        "inputs, and passes every correct twin.",
        run=exact_checks,
        judge=_judge_exact,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="together-defects-unseen",
        paper="together",
        label="Defects that an audit cannot catch (own)",
        kind="statement",
        mark="own",
        statement="A defect cannot be caught when it hurts utility only, when the claim has room "
        "for it, when another pair of inputs is needed, or when its violation is too rare.",
        run=exact_checks,
        judge=_judge_unseen,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="together-defects-caught",
        paper="together",
        label="Planted defects, audit (own)",
        kind="statement",
        mark="own",
        statement="Every planted defect whose information floor is at most 2,000 pairs is caught "
        "within 10,000 pairs in at least 95 % of the runs.",
        run=audits,
        judge=_judge_caught,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="together-defects-twins",
        paper="together",
        label="Correct twins (own)",
        kind="statement",
        mark="own",
        statement="No correct mechanism is rejected more often than the level of 5 %.",
        run=audits,
        judge=_judge_twins,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="together-defects-floor",
        paper="together",
        label="The floor holds (own)",
        kind="statement",
        mark="own",
        statement="The mean number of pairs until a defect is caught is at least its information "
        "floor.",
        run=audits,
        judge=_judge_floor,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
    Claim(
        id="together-low-bits",
        paper="together",
        label="A defect in the low-order bits (own)",
        kind="statement",
        mark="own",
        statement="Noise on a grid of 2^-30 that the value is not on gives the value away; the "
        "default auditor does not see it in the outputs and sees it at once in their low-order "
        "bits.",
        run=low_bits,
        judge=_judge_low_bits,
        page=PAGE,
        recorded=always(WITHIN_ERROR),
    ),
)
