"""The information floor: how many pairs any audit of a claim needs, whatever it computes.

Let P and Q be the laws of the outputs on D and on D'. A claim f allows every pair of laws (P0, Q0)
whose trade-off curve lies on or above f. An audit that rejects each of these with probability at
most gamma, and rejects (P, Q) surely in the end, consumes in expectation at least

    log(1 / gamma) / KL_inf,   KL_inf = min over allowed (P0, Q0) of KL(P || P0) + KL(Q || Q0)

pairs under (P, Q): after tau pairs the two worlds differ by ``E[tau] (KL(P || P0) + KL(Q || Q0))``
nats, and telling them apart that well takes at least log(1 / gamma).

For laws on finitely many outputs KL_inf is a convex programme. Outputs with one ratio q / p form
one cell; without loss P0 and Q0 split a cell as P and Q do. With cells by rising ratio, only tests
that decide Q on the cells above a boundary are asked to respect the claim,

    s P0(cells above k) + Q0(cells up to k) >= c(s)   for every k and slope s,

and a minimum of this smaller programme that turns out to respect the whole claim is the minimum of
the full one. Both sides are certified. Multipliers lambda of any such constraints give the bound

    KL_inf >= max over u, v of  sum p log(u - A) + 1 - u + sum q log(v - B) + 1 - v + sum lambda c,

with A = sum of lambda s over the boundaries below a cell, B = sum of lambda over those above it,
and u >= max A, v >= max B. From the other side, the laws found are mixed with a perfectly private
pair until their whole curve lies on or above f; their divergence is an upper bound.

Source: Wald's identity and data processing, as in Kaufmann, Cappe and Garivier 2016, Lemma 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from ldpkv import _check
from ldpkv.tradeoff import TradeoffCurve

Floats = NDArray[np.float64]

MAX_CELLS = 600
"""Most distinct ratios that `information_floor` takes; see `merge_cells`."""

_ULP = float(np.finfo(np.float64).eps)
_SAME_RATIO = 1e-12  # cells whose ratios agree to this relative accuracy are one
_ROUNDS = 12  # of added supporting lines, for smooth claims
_ROUNDING = 1e-13  # of sums of probabilities
_CLOSE = 1e-6  # relative distance of both bounds at which no more lines are added
_GAP = 2e-11  # nats, at which the programme counts as solved
_TINY = 1e-11  # neighbouring cells are lumped up to this mass, which the upper bound pays for


@dataclass(frozen=True, eq=False)
class InformationFloor:
    """Fewest expected pairs, between two certified numbers.

    Parameters
    ----------
    low, high : float
        ``log(1 / level) / KL_inf`` lies between them, up to rounding of about 1e-14 in KL_inf.
        `low` may be quoted as a floor: no audit can do better. Both are infinite when the pair
        respects the claim, and `high` alone when the violation is too small to be certified.
    divergence_low, divergence_high : float
        Bounds on KL_inf, in nats per pair: of the multipliers, and of the laws found.
    level : float
        gamma.
    law_p, law_q : ndarray of float64, shape (n_cells,)
        The given laws by cells of rising ratio q / p.
    law_p0, law_q0 : ndarray of float64, shape (n_cells,)
        The pair within the claim that is nearest to them, on the same cells.
    """

    low: float
    high: float
    divergence_low: float
    divergence_high: float
    level: float
    law_p: Floats = field(repr=False)
    law_q: Floats = field(repr=False)
    law_p0: Floats = field(repr=False)
    law_q0: Floats = field(repr=False)


def information_floor(
    law_p: Sequence[Any] | Floats,
    law_q: Sequence[Any] | Floats,
    curve: TradeoffCurve,
    level: float = 0.05,
) -> InformationFloor:
    """Bound the pairs that any audit of a claim needs, for laws on finitely many outputs.

    Parameters
    ----------
    law_p, law_q : sequence of Fraction, int or float, same length
        Probabilities of the outputs on D and D', or non-negative weights (each is divided by its
        sum). At most `MAX_CELLS` different ratios.
    curve : TradeoffCurve
        The claim f on (P, Q) in this order. An audit that uses both orders of a claim that is not
        symmetric needs fewer pairs than the floor of each order.
    level : float, default 0.05
        gamma, in (0, 1).

    Returns
    -------
    InformationFloor

    Raises
    ------
    ValueError, TypeError
        If the laws or the level are out of range, or there are too many different ratios.

    Notes
    -----
    When the laws are those of binned outputs, the floor is that of audits that see bins only. It
    lies above the floor of the outputs themselves and approaches it as the bins shrink.
    """
    if not isinstance(curve, TradeoffCurve):
        raise TypeError(f"curve must be a TradeoffCurve, got {curve!r}")
    _check.probability("level", level)
    if not 0 < level < 1:
        raise ValueError(f"level must be a number in (0, 1), got {level!r}")
    p, q = _cells(*_laws(law_p, law_q))
    if len(p) > MAX_CELLS:
        raise ValueError(
            f"the laws must have at most {MAX_CELLS} different ratios q / p, got {len(p)}: "
            "see merge_cells"
        )
    if respects(p, q, curve):
        return InformationFloor(math.inf, math.inf, 0.0, 0.0, level, p, q, p, q)
    half = (p + q) / 2
    if curve.delta_at(0.0) < 1e-12:
        # Only P0 = Q0 is allowed, and the middle is nearest.
        lower, p0, q0 = _kl(p, half) + _kl(q, half), half, half
    else:
        lump = _lumps(half)
        lower, p0, q0 = _nearest(_sums(lump, p), _sums(lump, q), curve)
        # Splitting both laws of a lump alike leaves their trade-off curve as it is.
        share = half / _sums(lump, half)[lump]
        p0, q0 = p0[lump] * share, q0[lump] * share
    # Laws that respect the claim up to rounding may be a little nearer than those that do.
    upper = max(_kl(p, p0) + _kl(q, q0), lower)
    nats = math.log(1 / level)
    return InformationFloor(
        low=nats / upper,
        high=nats / lower if lower > 0 else math.inf,
        divergence_low=lower,
        divergence_high=upper,
        level=level,
        law_p=p,
        law_q=q,
        law_p0=p0,
        law_q0=q0,
    )


def largest_gap(law_p: ArrayLike, law_q: ArrayLike, curve: TradeoffCurve) -> float:
    """Largest f - T for the trade-off curve T of two finite laws: how far a claim is broken.

    Parameters
    ----------
    law_p, law_q : array_like of float, shape (n,)
        Probabilities.
    curve : TradeoffCurve
        The claim f.

    Returns
    -------
    float
        At most 0 when the claim holds; absolute accuracy 1e-13. T is straight between its corners
        and f is convex, so that the largest gap is at a corner.
    """
    return -float(np.min(_margins(*_laws(law_p, law_q), curve)))


def respects(law_p: ArrayLike, law_q: ArrayLike, curve: TradeoffCurve) -> bool:
    """Whether the trade-off curve of two finite laws lies on or above a claim.

    Parameters
    ----------
    law_p, law_q : array_like of float, shape (n,)
        Probabilities.
    curve : TradeoffCurve
        The claim f.

    Returns
    -------
    bool
        Whether `largest_gap` is at most 1e-13, the rounding error of sums of probabilities.
    """
    return largest_gap(law_p, law_q, curve) <= _ROUNDING


def merge_cells(law_p: ArrayLike, law_q: ArrayLike, cells: int) -> tuple[Floats, Floats]:
    """Merge outputs of nearly equal ratio q / p, to at most `cells` cells.

    Parameters
    ----------
    law_p, law_q : array_like of float, shape (n,)
        Probabilities.
    cells : int
        At least 2.

    Returns
    -------
    p, q : ndarray of float64, shape (k,), k <= cells
        By rising ratio. Merging is post-processing: the floor can only rise.
    """
    _check.integer("cells", cells, minimum=2)
    p, q = _cells(*_laws(law_p, law_q))
    if len(p) <= cells:
        return p, q
    # Half of the cells follow the mass, half the logarithm of the ratio, so that neither the
    # bulk nor rare tell-tale outputs are blurred.
    mass = np.cumsum((p + q) / 2) - (p + q) / 4
    with np.errstate(divide="ignore"):
        ratio = np.clip(np.log(q) - np.log(p), -30.0, 30.0)
    place = (mass + (ratio - ratio[0]) / (ratio[-1] - ratio[0])) / 2
    label = np.minimum((place * cells).astype(int), cells - 1)
    # Certain outputs stay on their own.
    label = label + np.cumsum(np.r_[0, np.diff((p == 0).astype(int) - (q == 0)) != 0])
    kept, index = np.unique(label, return_inverse=True)
    merged = (_sums(index, p), _sums(index, q))
    return merged if len(kept) <= cells else merge_cells(*merged, cells - 1)


def binned_laws(
    cdf_p: Callable[[Floats], Any], cdf_q: Callable[[Floats], Any], edges: ArrayLike
) -> tuple[Floats, Floats]:
    """Laws of the bin in which a real output falls.

    Parameters
    ----------
    cdf_p, cdf_q : callable
        Distribution functions, continuous at the edges.
    edges : array_like of float, shape (n,)
        Strictly rising and finite; the first and last bin are open.

    Returns
    -------
    p, q : ndarray of float64, shape (n + 1,)

    Raises
    ------
    ValueError
        If the edges do not rise, or a function is not a distribution function on them.
    """
    at = np.asarray(edges, dtype=np.float64)
    if at.ndim != 1 or len(at) == 0 or not np.isfinite(at).all() or np.any(np.diff(at) <= 0):
        raise ValueError("edges must be finite and strictly rising")
    laws = []
    for name, cdf in (("cdf_p", cdf_p), ("cdf_q", cdf_q)):
        law = np.diff(np.r_[0.0, np.asarray(cdf(at), dtype=np.float64), 1.0])
        if not np.all(law >= -1e-12):
            raise ValueError(f"{name} must rise from 0 to 1 along the edges")
        laws.append(np.maximum(law, 0.0))
    return laws[0], laws[1]


# --- the convex programme -------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Lines:
    """Constraints ``s P0(cells above k) + Q0(cells up to k) >= c``."""

    k: NDArray[np.int64]
    s: Floats
    c: Floats

    def rows(self, cells: int) -> Floats:
        """Coefficients of (P0, Q0)."""
        index = np.arange(cells)
        above = index[None, :] > self.k[:, None]
        return np.hstack([above * self.s[:, None], ~above])


def _nearest(p: Floats, q: Floats, curve: TradeoffCurve) -> tuple[float, Floats, Floats]:
    """Certified lower bound on KL_inf, and laws that respect the claim nearly."""
    cells = len(p)
    half = (p + q) / 2
    # Rare cells start with some mass, far from the walls.
    centre = np.tile(half / 2 + 0.5 / cells, 2)
    start = centre
    vertices = curve.vertices
    few = vertices is not None and len(vertices) <= 6
    if few:
        a, b = np.array([[float(u), float(v)] for u, v in vertices or ()]).T
        pieces = -np.diff(b) / np.diff(a)
        slopes = np.repeat(pieces[pieces > 0], cells - 1)
        lines = _lines(np.tile(np.arange(cells - 1), int(np.sum(pieces > 0))), slopes, curve)
    else:
        lines = _tangents(half, curve)
    best, least = 0.0, (math.inf, half, half)
    for _ in range(1 if few else _ROUNDS):
        x, multipliers = _interior_point(np.r_[p, q], lines, start)
        lower, p0, q0 = _dual(p, q, lines, multipliers, x)
        best = max(best, lower)
        for pair in ((p0, q0), (x[:cells], x[cells:])):
            p0, q0 = _repaired(pair[0], _pooled(*pair), half, curve)
            least = min(least, (_kl(p, p0) + _kl(q, q0), p0, q0), key=lambda found: found[0])
        if least[0] - best < _CLOSE * best + 4 * _GAP:
            break
        # Lines far from the solution are dropped, and the claim is touched nearer to it.
        slack = lines.rows(cells) @ x - lines.c
        near = slack < 1e3 * np.maximum(multipliers, 1e-9) * (1 + lines.s)
        new = _tangents(x[:cells], curve)
        lines = _Lines(
            np.r_[lines.k[near], new.k], np.r_[lines.s[near], new.s], np.r_[lines.c[near], new.c]
        )
        start = 0.9 * np.r_[least[1], least[2]] + 0.1 * centre
    return best, least[1], least[2]


def _lumps(mass: Floats) -> NDArray[np.int64]:
    """Number the cells so that neighbours share a number until their mass is not tiny."""
    labels = np.zeros(len(mass), dtype=np.int64)
    inside = 0.0
    for cell in range(len(mass)):
        labels[cell] = labels[cell - 1] if cell else 0
        if cell and inside >= _TINY:
            labels[cell] += 1
            inside = 0.0
        inside += mass[cell]
    if inside < _TINY and labels[-1] > 0:
        labels[labels == labels[-1]] -= 1
    return labels


def _lines(k: NDArray[Any], s: Floats, curve: TradeoffCurve) -> _Lines:
    return _Lines(np.asarray(k, dtype=np.int64), s, np.asarray(curve.support(s), dtype=np.float64))


def _tangents(p0: Floats, curve: TradeoffCurve) -> _Lines:
    """Touch the claim where the boundaries' first errors are."""
    alpha = np.clip(np.cumsum(p0[::-1])[::-1][1:], 0.0, 1.0)
    s = -np.asarray(curve.slope(alpha), dtype=np.float64)
    good = (s > 1e-12) & (s < 1e12)
    return _lines(np.arange(len(alpha))[good], s[good], curve)


def _interior_point(w: Floats, lines: _Lines, x: Floats) -> tuple[Floats, Floats]:
    """Minimise -sum w log x over two laws and the lines, from a strictly feasible x.

    The conditions for a minimum are those of a linear programme whose products of x and its
    multipliers z are w instead of 0; products of slacks and lambda are 0. A primal-dual method
    (Wright, "Primal-Dual Interior-Point Methods", chapter 5) leads all products to their targets.
    How well it did is for the certificates to say.
    """
    cells = len(w) // 2
    g = lines.rows(cells)
    transposed = np.ascontiguousarray(g.T)
    e = np.zeros((2, 2 * cells))
    e[0, :cells] = e[1, cells:] = 1.0
    slack = g @ x - lines.c
    lam, z = 0.1 / (len(slack) * slack), np.maximum(w, 0.1 / len(w)) / x
    best, centring, step = (math.inf, x, lam), 0.2, 1.0
    for _ in range(60):
        gap = float(slack @ lam) + float(np.sum(np.abs(x * z - w)))
        if gap < best[0]:
            best = (gap, x, lam)
        if gap < _GAP or step < 1e-3:
            break
        target = centring * gap / (len(slack) + len(w))
        system = np.zeros((2 * cells + 2, 2 * cells + 2))
        system[: 2 * cells, : 2 * cells] = (transposed * (lam / slack)) @ g + np.diag(z / x)
        system[: 2 * cells, 2 * cells :], system[2 * cells :, : 2 * cells] = e.T, e
        right = np.r_[(w + target) / x + transposed @ (target / slack), 1.0 - e @ x]
        try:
            dx = np.linalg.solve(system, right)[: 2 * cells]
        except np.linalg.LinAlgError:
            break
        gdx = g @ dx
        dlam = -lam + target / slack - lam / slack * gdx
        dz = -z + (w + target) / x - z / x * dx
        step = 1.0
        for value, change in ((lam, dlam), (slack, gdx), (x, dx), (z, dz)):
            down = change < 0
            if down.any():
                step = min(step, 0.95 * float(np.min(-value[down] / change[down])))
        # Where a step is cut short, the next one first moves away from the walls.
        centring = 0.05 if step > 0.8 else 0.2 if step > 0.3 else 0.7
        x, lam, z = x + step * dx, lam + step * dlam, z + step * dz
        slack = np.maximum(g @ x - lines.c, 1e-300)
    return best[1], best[2]


def _dual(
    p: Floats, q: Floats, lines: _Lines, lam: Floats, x: Floats
) -> tuple[float, Floats, Floats]:
    """Lower bound of the module's docstring for any multipliers, less its rounding error.

    With it the laws that belong to the multipliers: ``p / (u - A)`` and ``q / (v - B)``; `x` says
    how they spread over outputs that P or Q does not have.
    """
    lam = np.maximum(lam, 0.0)
    cells = len(p)
    below = np.cumsum(_sums(lines.k + 1, lam * lines.s, cells))
    above = np.cumsum(_sums(lines.k, lam, cells)[::-1])[::-1]
    first, p0 = _best_shift(p, below, x[:cells])
    second, q0 = _best_shift(q, above, x[cells:])
    size = 8 + cells + float(lam @ (1 + lines.s))
    return first + second + float(lam @ lines.c) - 8 * _ULP * size, p0, q0


def _best_shift(law: Floats, lift: Floats, near: Floats) -> tuple[float, Floats]:
    """Maximise ``sum law log(u - lift) + 1 - u`` over u >= max lift; also the law behind it."""
    top = float(lift.max())
    seen = law > 0

    def excess(gap: float) -> float:
        return float(np.sum(law[seen] / (gap + (top - lift[seen])))) - 1.0

    gap = 1e-300  # the best u lies at the end of its range, or where the sum is 1
    if excess(gap) > 0:
        gap = float(optimize.brentq(excess, gap, 1.0 + 1e-9, xtol=1e-300, rtol=4 * _ULP))
    distance = gap + (top - lift)
    value = float(np.sum(law[seen] * np.log(distance[seen]))) + 1.0 - (top + gap)
    other = np.where(seen, law / distance, near)
    left = max(0.0, 1.0 - float(other[seen].sum()))
    if not seen.all():
        other[~seen] *= left / max(float(near[~seen].sum()), 1e-300)
    return value, other / other.sum()


def _pooled(p0: Floats, q0: Floats) -> Floats:
    """Spread Q0 as P0 over neighbours whose ratios fall, so that no ratio falls.

    The curve of the new pair is the lower hull of the points that the boundaries had, so that it
    lies above f if they did.
    """
    blocks: list[tuple[float, float, int]] = []
    for mass, other in zip(p0.tolist(), q0.tolist(), strict=True):
        block = (mass, other, 1)
        while blocks and blocks[-1][1] * block[0] > block[1] * blocks[-1][0]:
            mine = blocks.pop()
            block = (mine[0] + block[0], mine[1] + block[1], mine[2] + block[2])
        blocks.append(block)
    sizes = [size for _, _, size in blocks]
    ratio = np.repeat([other / mass if mass > 0 else np.nan for mass, other, _ in blocks], sizes)
    return np.where(np.isnan(ratio), q0, p0 * ratio)


def _repaired(p0: Floats, q0: Floats, half: Floats, curve: TradeoffCurve) -> tuple[Floats, Floats]:
    """Mix with a perfectly private pair, as little as the claim needs."""
    p0, q0 = np.maximum(p0, 0.0) / p0.sum(), np.maximum(q0, 0.0) / q0.sum()

    def mixed(share: float) -> tuple[Floats, Floats]:
        return (1 - share) * p0 + share * half, (1 - share) * q0 + share * half

    low, high = 0.0, 1.0
    for share in np.geomspace(1e-15, 1.0, 31):
        if np.all(_margins(*mixed(float(share)), curve) >= -_ROUNDING):
            high = float(share)
            break
        low = float(share)
    for _ in range(30):
        middle = (low + high) / 2
        if np.all(_margins(*mixed(middle), curve) >= -_ROUNDING):
            high = middle
        else:
            low = middle
    return mixed(high)


def _margins(p: Floats, q: Floats, curve: TradeoffCurve, *, ordered: bool = False) -> Floats:
    """Beta less f(alpha) at the corners of the laws' curve (or at given boundaries)."""
    if not ordered:
        with np.errstate(divide="ignore", invalid="ignore"):
            order = np.argsort(np.where(p > 0, q / p, np.inf), kind="stable")
        p, q = p[order], q[order]
    alpha = np.r_[np.cumsum(p[::-1])[::-1], 0.0]
    beta = np.r_[0.0, np.cumsum(q)]
    alpha, beta = np.clip(alpha / alpha[0], 0.0, 1.0), np.clip(beta / beta[-1], 0.0, 1.0)
    return np.asarray(beta - curve(alpha), dtype=np.float64)


def _cells(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Outputs of equal ratio q / p as one cell, by rising ratio."""
    kept = (p > 0) | (q > 0)
    p, q = p[kept], q[kept]
    with np.errstate(divide="ignore"):
        ratio = np.where(p > 0, q / np.where(p > 0, p, 1.0), np.inf)
    order = np.argsort(ratio, kind="stable")
    p, q, ratio = p[order], q[order], ratio[order]
    with np.errstate(invalid="ignore"):
        new = ratio[1:] > ratio[:-1] * (1 + _SAME_RATIO)
    first = np.flatnonzero(np.r_[True, new | ((ratio[1:] > 0) & (ratio[:-1] == 0))])
    return np.add.reduceat(p, first), np.add.reduceat(q, first)


def _laws(law_p: Any, law_q: Any) -> tuple[Floats, Floats]:
    laws = []
    for name, law in (("law_p", law_p), ("law_q", law_q)):
        array = np.asarray(law)
        if array.ndim != 1 or len(array) == 0:
            raise ValueError(f"{name} must have shape (n,) with n > 0, got shape {array.shape}")
        total = array.sum()
        if array.dtype == object and all(value >= 0 for value in array) and total > 0:
            array = np.array([float(value / total) for value in array])
        else:
            array = array.astype(np.float64)
        if not (np.isfinite(array).all() and np.all(array >= 0) and array.sum() > 0):
            raise ValueError(f"{name} must be finite weights >= 0 with a positive sum")
        laws.append(array / array.sum())
    if len(laws[0]) != len(laws[1]):
        raise ValueError(
            f"law_p and law_q must have one length, got {len(laws[0])} and {len(laws[1])}"
        )
    return laws[0], laws[1]


def _sums(labels: NDArray[Any], values: Floats, size: int = 0) -> Floats:
    return np.asarray(np.bincount(labels, weights=values, minlength=size), dtype=np.float64)


def _kl(law: Floats, other: Floats) -> float:
    seen = law > 0
    ratio = other[seen] / law[seen]
    # -log r + r - 1 is small and non-negative term by term; the sum of r - 1 is added back.
    part = law[seen] * (ratio - 1 - np.log(ratio))
    return float(np.sum(part)) + float(np.sum(other[~seen]))
