"""Stand-ins for data sets that cannot be had, made from the statistics published about them.

A surrogate is never used in place of the real set unless somebody calls it by its name. Its name
ends in ``_surrogate``, its provenance says ``is_surrogate`` and lists every assumption in plain
words, and `compare_with_published` shows how far it is from each published number.

Two kinds are told apart. `amazon_beauty`, `movielens20m` and `jdata_categories` are *calibrated*:
their marginals are the published ones. `talkingdata`, `jdata`, `gauss` and `lnr` are *stand-ins*:
hardly anything but the size is known, and the rest is assumed and can be changed.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numba
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import optimize, stats

from ldpkv import _check
from ldpkv.data import KeyValueData, RngLike, _count, _real, registry

__all__ = [
    "PUBLISHED",
    "CanaryScores",
    "Published",
    "ValueLaw",
    "amazon_beauty",
    "canary_scores",
    "compare_with_published",
    "fit_power_cutoff",
    "gauss",
    "jdata",
    "jdata_categories",
    "lnr",
    "marginals",
    "movielens20m",
    "power_cutoff_law",
    "published",
    "talkingdata",
]

ValueLaw: TypeAlias = Literal["per_key", "independent"]
"""How the values of a stand-in depend on the key, where no value was ever published."""


# --- what has been published ----------------------------------------------------------------------


class Published(NamedTuple):
    """One published number.

    Attributes
    ----------
    value : float
        The number.
    source : str
        Where it was read.
    """

    value: float
    source: str


_BEAUTY = "public analyses of ratings_Beauty.csv that agree with each other"
_CODEX = "codex.lenskit.org, ML20M; the same in DataRec's registry"
_CHIIR = "docstring in github.com/BoiseState/chiir2020-est-error, simulation_utils/datasets.py"
_HISKV = "HISKV, Table 2 and text"
_JDATA = "github.com/nospringiiz-oss/jd-user-behavior-analytics (queries over the whole data)"
_FILE = "computed from the file itself"
_CANARY = "computed from the files published with arXiv 2602.06518"


def _with_source(source: str, **values: float) -> dict[str, Published]:
    """Read ``length_p90=3`` as the statistic "length p90"."""
    return {name.replace("_", " "): Published(value, source) for name, value in values.items()}


PUBLISHED: Mapping[str, Mapping[str, Published]] = MappingProxyType(
    {
        # Users, keys, pairs and the histogram of values are those of the registry: see published().
        "amazon_beauty": {
            **_with_source(
                _BEAUTY,
                length_mean=1.6716,
                length_max=389,
                length_2nd_largest=336,
                length_3rd_largest=326,
                length_4th_largest=278,
                length_5th_largest=276,
                item_mean=8.116,
                item_max=7_533,
                item_2nd_largest=2_869,
                item_3rd_largest=2_477,
                item_4th_largest=2_143,
                item_5th_largest=2_088,
                item_6th_largest=2_041,
                users_with_one_pair=887_401,
                items_with_one_user=103_484,
                density=6.7e-6,
            )
        },
        "movielens20m": {
            **_with_source(
                _CODEX,
                length_min=20,
                length_median=68,
                length_p90=334,
                length_p95=520,
                length_p99=1_113,
                length_max=9_254,
                length_mean=144.41,
                length_gini=0.581,
                item_median=18,
                item_p90=1_306,
                item_p95=3_614,
                item_p99=14_396,
                item_max=67_310,
                item_mean=747.84,
                item_gini=0.903,
                density=0.0054,
            ),
            **_with_source(
                _CHIIR,
                length_p25=35,
                length_p75=155,
                length_sd=230.267,
                item_min=1,
                item_p25=3,
                item_p75=205,
                item_sd=3_085.818,
            ),
        },
        "talkingdata": _with_source(
            _HISKV, users=60_822, keys=306, density=0.069, length_share_below_50=0.98
        ),
        "jdata": {
            "users": Published(105_180, f"{_HISKV}; {_JDATA}"),
            "keys": Published(442, _HISKV),
        },
        # Users that touched the category, in the order of the category ids 4 to 11.
        "jdata_categories": {
            **_with_source(_JDATA, users=105_180, keys=8, length_mean=3.61),
            **{
                f"key {category} holders": Published(holders, _JDATA)
                for category, holders in {
                    4: 65_397,
                    5: 52_319,
                    6: 54_405,
                    7: 42_558,
                    8: 104_740,
                    9: 30_535,
                    10: 14_446,
                    11: 15_143,
                }.items()
            },
        },
        "gauss": _with_source(_HISKV, users=1_000_000, keys=100),
        "lnr": _with_source(_HISKV, users=1_000_000, keys=100),
        # The two sets at hand, so that the method itself can be tried on a known truth.
        "ecommerce": _with_source(
            _FILE,
            length_mean=1,
            item_max=1_024,
            item_2nd_largest=806,
            item_3rd_largest=756,
            item_4th_largest=582,
            item_5th_largest=545,
            items_with_one_user=491,
            item_gini=0.845,
            value_mean=0.598,
        ),
        "clothing": _with_source(
            _FILE,
            length_mean=1.824,
            length_p90=3,
            length_p95=5,
            length_p98=8,
            length_p99=11,
            item_max=2_231,
            item_median=14,
            item_p90=66,
            item_gini=0.663,
            value_mean=0.7731,
        ),
        "canary_scores": _with_source(
            _CANARY,
            included_mean=0.0826,
            included_sd=0.0708,
            excluded_mean=0.0002,
            excluded_sd=0.0606,
        ),
    }
)
"""Published statistics by set; the statistics are named as in `marginals`."""

JDATA_MEAN_RANGE = (3.6, 36.7)
"""Categories and products per user of JData: brands per user must lie between them."""


def _full_name(name: str) -> str:
    base = str(name).removesuffix("_surrogate")
    return _check.one_of("name", base, tuple(PUBLISHED))


def published(name: str) -> dict[str, Published]:
    """Return all that is published about a set, what the registry knows of it included.

    Parameters
    ----------
    name : str
        A key of `PUBLISHED`, with or without ``_surrogate`` at its end.

    Returns
    -------
    dict of str to Published
        By statistic, named as in `marginals`.

    Raises
    ------
    ValueError
        If nothing is known under that name.
    """
    base = _full_name(name)
    known: dict[str, Published] = {}
    if base in registry():
        entry = registry()[base]
        source = "registry.toml"
        for statistic, size in (("users", "n_users"), ("keys", "n_keys"), ("pairs", "n_pairs")):
            known[statistic] = Published(entry[size], source)
        for level, count in zip(entry["levels"], entry["counts"], strict=True):
            known[f"value {level:g} share"] = Published(count / entry["n_rows"], source)
    return {**known, **PUBLISHED[base]}


# --- summaries ------------------------------------------------------------------------------------

_MOST_LISTED = 20


def _gini(ascending: NDArray[Any]) -> float:
    """Gini coefficient of sorted non-negative numbers: 0 when all are equal."""
    n = ascending.size
    weights = np.arange(1, n + 1, dtype=np.float64)
    return float(2 * np.dot(weights, ascending) / (n * ascending.sum()) - (n + 1) / n)


def _describe(what: str, numbers: NDArray[Any]) -> dict[str, float]:
    ascending = np.sort(numbers).astype(np.float64)
    found = {
        f"{what} mean": float(ascending.mean()),
        f"{what} sd": float(ascending.std()),
        f"{what} min": float(ascending[0]),
        f"{what} max": float(ascending[-1]),
        f"{what} gini": _gini(ascending),
        f"{what} share of 1": float((ascending == 1).mean()),
        f"{what} share below 50": float((ascending < 50).mean()),
    }
    for label, percent in {
        "p25": 25,
        "median": 50,
        "p75": 75,
        "p90": 90,
        "p95": 95,
        "p98": 98,
        "p99": 99,
    }.items():
        found[f"{what} {label}"] = float(np.percentile(ascending, percent))
    for place, label in enumerate(["2nd", "3rd", "4th", "5th", "6th"], start=2):
        if place <= ascending.size:
            found[f"{what} {label} largest"] = float(ascending[-place])
    return found


def marginals(data: KeyValueData) -> pd.Series:
    """Summarise lengths, item counts and values of a data set.

    Parameters
    ----------
    data : KeyValueData
        Real or generated.

    Returns
    -------
    pandas.Series of float64
        Indexed by statistic: ``users``, ``keys`` (the domain), ``keys held``, ``pairs``,
        ``density``; ``length ...`` over users (pairs of each); ``item ...`` over the keys that
        somebody holds (users of each); ``value mean`` and ``value sd`` on [-1, 1]; the share of
        each value where there are at most 20, as ``value 4.5 share`` on the raw scale of the
        provenance; the holders of each key where there are at most 20, as ``key 4 holders``, by
        label. Percentiles interpolate linearly; sd divides by the number of cases.

    Raises
    ------
    ValueError
        If `data` holds no pair.
    """
    if data.n_pairs == 0:
        raise ValueError("data must hold at least one pair, got none")
    counts = np.bincount(data.keys, minlength=data.n_keys)
    held = counts[counts > 0]
    found: dict[str, float] = {
        "users": data.n_users,
        "keys": data.n_keys,
        "keys held": held.size,
        "pairs": data.n_pairs,
        "density": data.n_pairs / (data.n_users * data.n_keys),
        "users with one pair": int((data.lengths == 1).sum()),
        "items with one user": int((held == 1).sum()),
        **_describe("length", data.lengths),
        **_describe("item", held),
        "value mean": float(data.values.mean()),
        "value sd": float(data.values.std()),
    }
    scale: Any = data.provenance.get("scale", (-1.0, 1.0))
    low, high = scale
    # Sorting 20 million values to find out that there are ten is slow; a few show it.
    if np.unique(data.values[:10_000]).size <= _MOST_LISTED:
        levels, times = np.unique(data.values, return_counts=True)
        if levels.size <= _MOST_LISTED:
            raw = (levels * (high - low) + low + high) / 2
            for level, count in zip(raw, times, strict=True):
                found[f"value {round(float(level), 9) + 0.0:g} share"] = count / data.n_pairs
    if data.n_keys <= _MOST_LISTED:
        labels = data.key_labels or tuple(range(data.n_keys))
        for label, count in zip(labels, counts, strict=True):
            found[f"key {label} holders"] = int(count)
    return pd.Series(found, name=data.name, dtype=np.float64)


def compare_with_published(name: str, data: KeyValueData) -> pd.DataFrame:
    """Put a data set beside the published statistics of the real one.

    The table is meant for a surrogate of full size: counts and maxima of a smaller one differ
    because it is smaller.

    Parameters
    ----------
    name : str
        As in `published`.
    data : KeyValueData
        What was generated, or the real set.

    Returns
    -------
    pandas.DataFrame
        Indexed by statistic; columns ``published``, ``generated``, ``difference`` (generated -
        published), ``relative`` (difference / published; NaN where the published number is 0)
        and ``source``. A value that the data never take has share 0; another statistic that they
        do not have is NaN.

    Raises
    ------
    ValueError
        If nothing is published under that name.
    """
    known = published(name)
    found = marginals(data)
    stated = np.array([entry.value for entry in known.values()], dtype=np.float64)
    absent = [0.0 if s.startswith("value ") and s.endswith(" share") else np.nan for s in known]
    generated = np.array(
        [found.get(s, missing) for s, missing in zip(known, absent, strict=True)], dtype=np.float64
    )
    difference = generated - stated
    relative = np.full(stated.size, np.nan)
    np.divide(difference, stated, out=relative, where=stated != 0)
    return pd.DataFrame(
        {
            "published": stated,
            "generated": generated,
            "difference": difference,
            "relative": relative,
            "source": [entry.source for entry in known.values()],
        },
        index=pd.Index(list(known), name="statistic"),
    )


# --- laws of lengths and item counts --------------------------------------------------------------

_LONGEST = 20_000
"""Support of the power laws: their cut-offs end them long before."""


def power_cutoff_law(
    exponent: float, rate: float, *, shift: float = 0.0, longest: int = _LONGEST
) -> NDArray[np.float64]:
    """Return the power law with exponential cut-off, P(l) ~ (l + shift)^-exponent exp(-rate l).

    Parameters
    ----------
    exponent : float
        The a of the law; may be negative.
    rate : float
        The b of the law, at least 0.
    shift : float
        Above -1; 0 is the plain power law, else the Zipf-Mandelbrot one.
    longest : int
        The support is 1 to `longest`.

    Returns
    -------
    ndarray of float64, shape (longest,)
        Probabilities of 1, 2, ..., longest; they sum to 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.
    """
    longest = _count("longest", longest, 10**8)
    exponent, rate = _real("exponent", exponent, -math.inf), _real("rate", rate, 0)
    shift = _real("shift", shift, -1)
    if shift == -1:
        raise ValueError("shift must be above -1, got -1")
    size = np.arange(1, longest + 1, dtype=np.float64)
    log_weight = -exponent * np.log(size + shift) - rate * size
    weight = np.exp(log_weight - log_weight.max())
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def fit_power_cutoff(
    share_of_one: float, mean: float, *, longest: int = _LONGEST
) -> tuple[float, float]:
    """Solve for the law P(l) ~ l^-a exp(-b l) that has a given P(1) and a given mean.

    Parameters
    ----------
    share_of_one : float
        P(1), in (0, 1).
    mean : float
        Above 2 - share_of_one, which is the least mean that this P(1) allows.
    longest : int
        The support is 1 to `longest`.

    Returns
    -------
    exponent, rate : float
        The a and b of `power_cutoff_law`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range, or no such law has this mean.
    """
    share_of_one = _real("share_of_one", share_of_one, 0, 1)
    mean = _real("mean", mean, 1)
    longest = _count("longest", longest, 10**8)
    if not 0 < share_of_one < 1:
        raise ValueError(f"share_of_one must be above 0 and below 1, got {share_of_one!r}")
    if mean <= 2 - share_of_one:
        raise ValueError(f"mean must be above 2 - share_of_one = {2 - share_of_one}, got {mean!r}")
    size = np.arange(1, longest + 1, dtype=np.float64)
    log_size = np.log(size)

    def law(exponent: float, rate: float) -> NDArray[np.float64]:
        log_weight = -exponent * log_size - rate * size
        weight = np.exp(log_weight - log_weight.max())
        return np.asarray(weight / weight.sum(), dtype=np.float64)

    def exponent_for(rate: float) -> float:
        # P(1) rises with the exponent.
        return float(optimize.brentq(lambda a: law(a, rate)[0] - share_of_one, -60.0, 60.0))

    def excess(log_rate: float) -> float:
        rate = math.exp(log_rate)
        return float(law(exponent_for(rate), rate) @ size) - mean

    # At a fixed P(1) the mean falls as the cut-off sharpens.
    low, high = math.log(1e-7), math.log(10.0)
    if excess(low) < 0 or excess(high) > 0:
        raise ValueError(
            f"no law of this family has P(1) = {share_of_one:g} and mean {mean:g} on 1..{longest}"
        )
    rate = math.exp(float(optimize.brentq(excess, low, high, xtol=1e-13)))
    return exponent_for(rate), rate


def _at_middles(law: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return n sizes, ascending: the quantiles of a law on 1, 2, ... at (i + 1/2) / n."""
    edges = np.cumsum(law)
    middles = (np.arange(n) + 0.5) / n
    places = np.searchsorted(edges, np.minimum(middles, edges[-1]))
    return (places + 1).astype(np.int64)


def _to_total(
    counts: NDArray[np.int64], total: int, *, free: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Add or take one, evenly spread over the `free` entries, until the sum is `total`."""
    counts = counts.copy()
    missing = total - int(counts.sum())
    places = np.flatnonzero(free)
    if abs(missing) > places.size:
        raise ValueError(f"cannot reach a total of {total}: {missing} off, {places.size} free")
    if missing:
        chosen = np.linspace(0, places.size - 1, abs(missing)).round().astype(np.int64)
        counts[places[chosen]] += 1 if missing > 0 else -1
    return counts


_FREE_KNOT = 0.999
"""Where the tail above the last published percentile bends, so that the mean is as published."""


def _through_quantiles(
    n: int, knots: Sequence[tuple[float, float]], *, offset: float, total: int
) -> NDArray[np.int64]:
    """Return n whole numbers, ascending, with published quantiles and a given sum.

    log(number - offset) is linear between the knots on the scale of normal quantiles; knots at 0
    and 1 stand for the least and the largest number. One knot more, at `_FREE_KNOT`, is solved
    for from the sum.
    """
    probability, value = (np.array(column, dtype=np.float64) for column in zip(*knots, strict=True))
    score = stats.norm.ppf(np.clip(probability, 0.5 / n, 1 - 0.5 / n))
    height = np.log(value - offset)
    free = float(stats.norm.ppf(_FREE_KNOT))
    place = int(np.searchsorted(score, free))
    score = np.insert(score, place, free)
    middles = stats.norm.ppf((np.arange(n) + 0.5) / n)

    def numbers(free_height: float) -> NDArray[np.float64]:
        heights = np.insert(height, place, free_height)
        return np.asarray(offset + np.exp(np.interp(middles, score, heights)))

    solved = optimize.brentq(
        lambda h: float(np.rint(numbers(h)).sum()) - total,
        height[place - 1],
        height[place],
        xtol=1e-9,
        rtol=1e-12,
        disp=False,  # the sum moves in whole steps: what is left is dealt out below
    )
    counts = np.rint(numbers(float(solved))).astype(np.int64)
    inside = (counts > value[0] + 1) & (counts < value[-1])
    return _to_total(counts, total, free=inside)


@functools.lru_cache(maxsize=2)
def _beauty_lengths(longest_by_hand: bool) -> NDArray[np.int64]:
    known = published("amazon_beauty")
    n, total = int(known["users"].value), int(known["pairs"].value)
    share = known["users with one pair"].value / n
    lengths = _at_middles(power_cutoff_law(*fit_power_cutoff(share, total / n)), n)
    top = 0
    if longest_by_hand:
        labels = ("max", "2nd largest", "3rd largest", "4th largest", "5th largest")
        largest = [int(known[f"length {label}"].value) for label in labels]
        top = len(largest)
        lengths[-top:] = largest[::-1]
    free = lengths > 2
    free[n - top :] = False
    lengths = _to_total(lengths, total, free=free)
    lengths.flags.writeable = False
    return lengths


@functools.lru_cache(maxsize=1)
def _beauty_item_law() -> tuple[float, float, float]:
    """Exponent, shift and rate that give the published singles, mean and sixth largest item."""
    known = published("amazon_beauty")
    d, total = known["keys"].value, known["pairs"].value
    singles = known["items with one user"].value
    sixth = int(known["item 6th largest"].value)
    size = np.arange(1, _LONGEST + 1, dtype=np.float64)

    def errors(x: NDArray[np.float64]) -> list[float]:
        law = power_cutoff_law(x[0], math.exp(x[2]), shift=math.exp(x[1]) - 1)
        return [
            math.log(law[0] * d / singles),
            math.log(float(law @ size) * d / total),
            # The sixth of d items sits where 5.5 are expected above.
            math.log(float(law[sixth - 1 :].sum()) * d / 5.5),
        ]

    solved = optimize.root(errors, [1.8, math.log(1.5), math.log(1e-3)])
    if not solved.success:
        raise RuntimeError(f"the law of item counts could not be fitted: {solved.message}")
    exponent, log_shift, log_rate = solved.x
    return float(exponent), math.exp(log_shift) - 1, math.exp(log_rate)


@functools.lru_cache(maxsize=1)
def _beauty_items() -> NDArray[np.int64]:
    """Users of each item, most popular first."""
    known = published("amazon_beauty")
    d, total = int(known["keys"].value), int(known["pairs"].value)
    exponent, shift, rate = _beauty_item_law()
    counts = _at_middles(power_cutoff_law(exponent, rate, shift=shift), d)[::-1]
    labels = ("max", *(f"{nth} largest" for nth in ("2nd", "3rd", "4th", "5th", "6th")))
    counts[: len(labels)] = [int(known[f"item {label}"].value) for label in labels]
    free = counts > 2
    free[: len(labels)] = False
    counts = np.sort(_to_total(counts, total, free=free))[::-1].copy()
    counts.flags.writeable = False
    return counts


def _knots(what: str, probabilities: Mapping[str, float]) -> list[tuple[float, float]]:
    known = published("movielens20m")
    return [(p, known[f"{what} {label}"].value) for label, p in probabilities.items()]


_QUANTILES = {
    "min": 0.0,
    "p25": 0.25,
    "median": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "max": 1.0,
}


@functools.lru_cache(maxsize=1)
def _movielens_lengths() -> NDArray[np.int64]:
    known = published("movielens20m")
    lengths = _through_quantiles(
        int(known["users"].value),
        _knots("length", _QUANTILES),
        offset=known["length min"].value - 1,
        total=int(known["pairs"].value),
    )
    lengths.flags.writeable = False
    return lengths


@functools.lru_cache(maxsize=1)
def _movielens_items() -> NDArray[np.int64]:
    """Users of each item, most popular first."""
    known = published("movielens20m")
    counts = _through_quantiles(
        int(known["keys"].value),
        _knots("item", _QUANTILES),
        offset=0.0,
        total=int(known["pairs"].value),
    )
    counts = np.sort(counts)[::-1].copy()
    counts.flags.writeable = False
    return counts


# --- dealing keys and values ----------------------------------------------------------------------

_MOST_TRIES = 10**7


@numba.njit(cache=True)
def _deal(  # type: ignore[no-untyped-def]
    pool, indptr, order, n_keys, most_tries, rng
):  # pragma: no cover - compiled
    """Deal the pool's keys to the users in place; False if a repeated key could not be swapped.

    A shuffle decides which key falls to which place. A user that was dealt a key twice swaps one
    of the two for a random place of the pool, if neither side then holds a key twice.
    """
    n_pairs = indptr[-1]
    n_pool = pool.size
    for place in range(n_pairs):  # the rest of the pool stays with nobody
        other = place + rng.integers(0, n_pool - place)
        pool[place], pool[other] = pool[other], pool[place]
    holder = np.full(n_keys, -1, dtype=np.int32)
    longest = 0
    for user in order:
        longest = max(longest, indptr[user + 1] - indptr[user])
    repeated = np.empty(longest, dtype=np.int64)
    for user in order:
        n_repeated = 0
        for place in range(indptr[user], indptr[user + 1]):
            if holder[pool[place]] == user:
                repeated[n_repeated] = place
                n_repeated += 1
            holder[pool[place]] = user
        for place in repeated[:n_repeated]:
            mine = pool[place]
            tries = 0
            while True:
                tries += 1
                if tries > most_tries:
                    return False
                other = rng.integers(0, n_pool)
                theirs = pool[other]
                if holder[theirs] == user:
                    continue
                if other < n_pairs:
                    owner = np.searchsorted(indptr, other, side="right") - 1
                    clash = False
                    for q in range(indptr[owner], indptr[owner + 1]):
                        if pool[q] == mine:
                            clash = True
                            break
                    if clash:
                        continue
                pool[place] = theirs
                pool[other] = mine
                holder[theirs] = user
                break
    for user in range(indptr.size - 1):
        pool[indptr[user] : indptr[user + 1]].sort()
    return True


def _deal_keys(
    item_counts: NDArray[np.int64], indptr: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Give each user distinct keys, ascending; key k is in the pool item_counts[k] times."""
    pool = np.repeat(np.arange(item_counts.size, dtype=np.int32), item_counts)
    # The longest users are the hardest to please, so they choose while all can still swap.
    order = np.argsort(-np.diff(indptr), kind="stable")
    if not _deal(pool, indptr, order, item_counts.size, _MOST_TRIES, rng):
        raise RuntimeError("the keys could not be dealt so that no user holds one twice")
    n_pairs = int(indptr[-1])
    return pool if n_pairs == pool.size else pool[:n_pairs].copy()


@numba.njit(cache=True)
def _to_levels(latent, thresholds, levels):  # type: ignore[no-untyped-def] # pragma: no cover
    """Replace each score by the level whose interval it lies in, in place."""
    for i in range(latent.size):
        level = 0
        while level < thresholds.size and latent[i] > thresholds[level]:
            level += 1
        latent[i] = levels[level]


def _deal_values(
    keys: NDArray[np.int32],
    n_keys: int,
    levels: NDArray[np.float64],
    counts: NDArray[np.int64],
    key_share: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Give each pair a level so that the histogram is the wanted one to within one pair.

    A pair's score is a part of its key, with share `key_share` of the variance, and a part of its
    own. The lowest scores get the lowest level, and so on.
    """
    latent = rng.standard_normal(keys.size)
    if key_share > 0:
        latent *= math.sqrt(1 - key_share)
        latent += (math.sqrt(key_share) * rng.standard_normal(n_keys))[keys]
    ends = np.cumsum(counts)
    cuts = np.rint(ends[:-1] * (keys.size / ends[-1])).astype(np.int64)
    thresholds = np.full(cuts.size, -np.inf)
    wanted = cuts[cuts > 0] - 1
    if wanted.size:
        thresholds[cuts > 0] = np.partition(latent, np.unique(wanted))[wanted]
    _to_levels(latent, thresholds, levels)
    return latent


@numba.njit(cache=True)
def _race(indptr, weights, rng):  # type: ignore[no-untyped-def] # pragma: no cover - compiled
    """Draw each user's keys one after another without replacement, by weight; ascending."""
    keys = np.empty(indptr[-1], dtype=np.int32)
    arrival = np.empty(weights.size)
    for user in range(indptr.size - 1):
        length = indptr[user + 1] - indptr[user]
        # Exponential clocks with these rates ring in the order of successive draws.
        for key in range(weights.size):
            arrival[key] = rng.standard_exponential() / weights[key]
        last = np.partition(arrival, length - 1)[length - 1]
        place = indptr[user]
        for key in range(weights.size):
            if arrival[key] <= last and place < indptr[user + 1]:
                keys[place] = key
                place += 1
    return keys


def _indptr(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    indptr = np.zeros(lengths.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def _spread_values(
    keys: NDArray[np.int32],
    lengths: NDArray[np.int64],
    key_means: NDArray[np.float64],
    value_spread: float,
    length_slope: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Draw values uniformly around the key's mean, moved by the rank of the user's length."""
    values = key_means[keys]
    if length_slope != 0:
        rank = (stats.rankdata(lengths) - 0.5) / lengths.size
        values += length_slope * np.repeat(2 * rank - 1, lengths)
        np.clip(values, -1, 1, out=values)
    if value_spread > 0:
        half_width = np.minimum(value_spread, 1 - np.abs(values))
        values += half_width * rng.uniform(-1, 1, size=keys.size)
        np.clip(values, -1, 1, out=values)  # only rounding can have left the interval
    return values


def _assembled(
    base: str,
    indptr: NDArray[np.int64],
    keys: NDArray[np.int32],
    values: NDArray[np.float64],
    n_keys: int,
    parameters: Mapping[str, object],
    assumptions: Sequence[str],
    *,
    scale: tuple[float, float] = (-1.0, 1.0),
    key_labels: tuple[int, ...] | None = None,
) -> KeyValueData:
    for array in (indptr, keys, values):
        array.flags.writeable = False  # ours alone, so the constructor need not copy
    name = f"{base}_surrogate"
    return KeyValueData(
        indptr=indptr,
        keys=keys,
        values=values,
        n_keys=n_keys,
        name=name,
        provenance={
            "name": name,
            "sha256": None,
            "is_real": False,
            "is_surrogate": True,
            "surrogate_of": base,
            "bootstrap_n": None,
            "duplicates": "error",
            "scale": scale,
            "parameters": dict(parameters),
            "sources": tuple(dict.fromkeys(p.source for p in published(base).values())),
            "assumptions": tuple(assumptions),
        },
        key_labels=key_labels,
    )


# --- calibrated surrogates ------------------------------------------------------------------------


def _dealt(
    base: str,
    n_users: int,
    lengths: NDArray[np.int64],
    item_counts: NDArray[np.int64],
    key_share: float,
    parameters: Mapping[str, object],
    assumptions: Sequence[str],
    rng: np.random.Generator,
) -> KeyValueData:
    """Deal lengths, keys and ratings of a registered set to `n_users` of its users."""
    entry = registry()[base]
    low, high = entry["scale"]
    indptr = _indptr(rng.permutation(lengths)[:n_users])
    keys = _deal_keys(item_counts, indptr, rng)
    levels = (2 * np.array(entry["levels"]) - low - high) / (high - low)
    values = _deal_values(keys, item_counts.size, levels, np.array(entry["counts"]), key_share, rng)
    common = [
        "the marginals are those published; how they hang together is assumed",
        "keys are dealt at random given how many pairs each user and how many users each key has: "
        "no tastes, and no tie between a user's length and the popularity of the keys but the one "
        "that distinct keys force",
        "a user that is dealt a key twice swaps it with a random pair, which keeps both marginals "
        "but is not exactly uniform over all such tables",
        "ratings follow the published histogram to within one rating, whatever the size",
        "a rating does not depend on the user or on the user's number of pairs",
        "no key's rating depends on its popularity"
        if key_share == 0
        else "a key's mean rating does not depend on its popularity",
        "ratings do not depend on the key"
        if key_share == 0
        else f"a share {key_share:g} of the variance of the normal score behind a rating belongs "
        "to the key, the rest to the pair",
    ]
    if n_users < lengths.size:
        common.append(
            f"{n_users:,} of {lengths.size:,} users, drawn at random with the pairs that the "
            "full surrogate would give them; keys that none of them holds stay in the domain"
        )
    return _assembled(
        base,
        indptr,
        keys,
        values,
        item_counts.size,
        {**parameters, "key_share": key_share},
        [*common, *assumptions],
        scale=(low, high),
    )


def amazon_beauty(
    *,
    rng: RngLike,
    n_users: int = 1_210_271,
    longest_by_hand: bool = True,
    key_share: float = 0.07,
) -> KeyValueData:
    """Make a surrogate of the Amazon Beauty ratings (2014): 1,210,271 users, 249,274 items.

    At full size it has the published 2,023,070 pairs, 887,401 users with one pair, 103,484 items
    with one user, six largest items and rating histogram exactly. Lengths follow
    P(l) ~ l^-a exp(-b l), solved from P(1) and the mean; item counts follow
    P(c) ~ (c + s)^-a exp(-b c), solved from the share of singles, the mean and the place of the
    sixth largest item. Both are dealt at their quantiles, not drawn, so that they carry no noise.

    Parameters
    ----------
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    n_users : int
        From 1 to 1,210,271: that many users of the full surrogate, drawn at random.
    longest_by_hand : bool
        Give the five longest users their published lengths (389, 336, 326, 278, 276). The law
        alone ends near 120.
    key_share : float
        In [0, 1]: share of the variance of the normal score behind a rating that belongs to the
        key. 0: values are independent of keys, so that all keys have one mean. The default gives
        ratings an intraclass correlation of about .05, between those measured on E-commerce
        (.033) and Clothing (.065); none is published for this set.

    Returns
    -------
    KeyValueData
        Key 0 is the most popular item; values are (rating - 3) / 2.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.

    Notes
    -----
    Source: see `PUBLISHED`; `compare_with_published` states every deviation.
    """
    lengths = _beauty_lengths(bool(longest_by_hand))
    n_users = _count("n_users", n_users, lengths.size)
    key_share = _real("key_share", key_share, 0, 1)
    return _dealt(
        "amazon_beauty",
        n_users,
        lengths,
        _beauty_items(),
        key_share,
        {"n_users": n_users, "longest_by_hand": bool(longest_by_hand)},
        [
            "lengths follow a power law with exponential cut-off, fitted to P(1) and the mean",
            "the five longest users are put in by hand"
            if longest_by_hand
            else "the five longest users, 276 to 389 pairs, are not reproduced",
            "item counts follow a shifted power law with exponential cut-off, fitted to the items "
            "with one user, the mean and the sixth largest; the six largest are put in by hand",
            "lengths and item counts are moved by at most one so that the total is as published",
        ],
        np.random.default_rng(rng),
    )


def movielens20m(
    *, rng: RngLike, n_users: int = 138_493, share: float = 1.0, key_share: float = 0.22
) -> KeyValueData:
    """Make a surrogate of MovieLens 20M: 138,493 users, 26,744 films, 20,000,263 pairs.

    At full size it has the published number of pairs, quantiles of lengths and of item counts and
    rating histogram. Between the published quantiles, log(l - 19) and log(c) are linear on the
    scale of normal quantiles; one knot more at the 99.9 % point is solved for from the mean.

    Parameters
    ----------
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    n_users : int
        From 1 to 138,493: that many users of the full surrogate, drawn at random.
    share : float
        In (0, 1]: of these users, the share to keep (at least one); .1 needs a tenth of the
        memory of the full set, which is 250 MB, and about 0.8 GB while it is made.
    key_share : float
        In [0, 1], as in `amazon_beauty`. The default gives ratings an intraclass correlation of
        about .21, as measured on the small MovieLens set of 2016 (100,004 ratings).

    Returns
    -------
    KeyValueData
        Key 0 is the most popular film; stars from .5 to 5 become values from -1 to 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.

    Notes
    -----
    Source: see `PUBLISHED`; `compare_with_published` states every deviation.
    """
    lengths = _movielens_lengths()
    n_users = _count("n_users", n_users, lengths.size)
    share = _real("share", share, 0, 1)
    if share == 0:
        raise ValueError("share must be above 0, got 0")
    key_share = _real("key_share", key_share, 0, 1)
    kept = max(1, round(n_users * share))
    return _dealt(
        "movielens20m",
        kept,
        lengths,
        _movielens_items(),
        key_share,
        {"n_users": n_users, "share": share},
        [
            "lengths and item counts are interpolated between their published quantiles: "
            "log(length - 19) and log(count) are linear on the scale of normal quantiles",
            "the 99.9 % points are not published: they are what the published means require",
            "lengths and item counts are moved by at most one so that the total is as published",
            "how many ratings of .5, 1, ... there are: one of the ten counts (1.5 stars) was not "
            "read but follows from the total",
        ],
        np.random.default_rng(rng),
    )


def jdata_categories(
    *,
    rng: RngLike,
    n_users: int = 105_180,
    activity_share: float = 0.0,
    value_law: ValueLaw = "per_key",
    value_spread: float = 0.5,
    length_slope: float = 0.0,
) -> KeyValueData:
    """Make a surrogate of JData over its 8 product categories, with their exact frequencies.

    This is not the set of 442 brands that HISKV used, which nobody else has described; it is the
    one table of JData for which key frequencies are published.

    Parameters
    ----------
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    n_users : int
        At least 1. Other than 105,180, holders are scaled and rounded.
    activity_share : float
        In [0, 1]: how much a user's categories hang together. 0: they are independent given the
        frequencies. 1: who holds a rare category holds all more common ones.
    value_law, value_spread, length_slope
        As in `talkingdata`.

    Returns
    -------
    KeyValueData
        Eight keys with the labels 4 to 11; every user holds at least one.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.

    Notes
    -----
    Source: see `PUBLISHED`.
    """
    n_users = _count("n_users", n_users, 10**9)
    activity_share = _real("activity_share", activity_share, 0, 1)
    generator = np.random.default_rng(rng)
    known = published("jdata_categories")
    labels = tuple(range(4, 12))
    holders = np.array([known[f"key {label} holders"].value for label in labels])
    counts = np.rint(holders * (n_users / known["users"].value)).astype(np.int64)
    active = math.sqrt(activity_share) * generator.standard_normal(n_users)
    held = np.zeros((n_users, len(labels)), dtype=bool)
    for key, count in enumerate(counts):
        score = active + math.sqrt(1 - activity_share) * generator.standard_normal(n_users)
        if count:
            held[np.argpartition(-score, count - 1)[:count], key] = True
    # An active user has touched something: who came out empty takes one of another's categories.
    for user in np.flatnonzero(~held.any(axis=1)):
        while not held[user].any():
            giver = generator.integers(n_users)
            if held[giver].sum() > 1:
                key = generator.choice(np.flatnonzero(held[giver]))
                held[giver, key], held[user, key] = False, True
    lengths = held.sum(axis=1)
    keys = np.nonzero(held)[1].astype(np.int32)
    values, value_assumptions = _assumed_values(
        keys, lengths, len(labels), value_law, value_spread, length_slope, generator
    )
    return _assembled(
        "jdata_categories",
        _indptr(lengths),
        keys,
        values,
        len(labels),
        {
            "n_users": n_users,
            "activity_share": activity_share,
            "value_law": value_law,
            "value_spread": value_spread,
            "length_slope": length_slope,
        },
        [
            "users of each category are the published ones"
            + ("" if n_users == 105_180 else ", scaled to n_users and rounded"),
            "which categories go together is not published: "
            + (
                "they are dealt independently"
                if activity_share == 0
                else f"a share {activity_share:g} of each score is the user's activity"
            ),
            "every user holds at least one category",
            *value_assumptions,
        ],
        key_labels=labels,
    )


# --- stand-ins ------------------------------------------------------------------------------------


def _assumed_values(
    keys: NDArray[np.int32],
    lengths: NDArray[np.int64],
    n_keys: int,
    value_law: ValueLaw,
    value_spread: float,
    length_slope: float,
    rng: np.random.Generator,
) -> tuple[NDArray[np.float64], list[str]]:
    """Draw values where none is published, and say what was assumed."""
    _check.one_of("value_law", value_law, get_args(ValueLaw))
    value_spread = _real("value_spread", value_spread, 0, 1)
    length_slope = _real("length_slope", length_slope, -1, 1)
    if value_law == "per_key":
        means = rng.uniform(-1, 1, size=n_keys)
        words = (
            "each key has a mean uniform on [-1, 1]; a holder's value is uniform around it, "
            f"half-width min({value_spread:g}, 1 - |mean|)"
        )
    else:
        means, value_spread = np.zeros(n_keys), 1.0
        words = "values are uniform on [-1, 1], whatever the key"
    slope = (
        "values do not depend on the user's number of pairs"
        if length_slope == 0
        else f"the mean moves by {length_slope:g} (2 r - 1), r in [0, 1] being the rank of the "
        "user's number of pairs, cut to [-1, 1]"
    )
    values = _spread_values(keys, lengths, means, value_spread, length_slope, rng)
    return values, [f"no value is published: {words}", slope]


def _gamma_law(mean: float, shape: float, longest: int) -> NDArray[np.float64]:
    """Gamma density at 1..longest, scaled to sum to 1, with exactly this mean."""
    size = np.arange(1, longest + 1, dtype=np.float64)

    def excess(log_rate: float) -> float:
        law = power_cutoff_law(1 - shape, math.exp(log_rate), longest=longest)
        return float(law @ size) - mean

    low, high = math.log(1e-6), math.log(1e3 * shape)
    if excess(low) < 0 or excess(high) > 0:
        raise ValueError(f"no gamma law of shape {shape:g} on 1..{longest} has mean {mean:g}")
    log_rate = float(optimize.brentq(excess, low, high, xtol=1e-13))
    return power_cutoff_law(1 - shape, math.exp(log_rate), longest=longest)


def _gamma_shape(mean: float, share_below_50: float, longest: int) -> float:
    """Shape of the gamma law that has this mean and this P(l < 50)."""

    def excess(log_shape: float) -> float:
        law = _gamma_law(mean, math.exp(log_shape), longest)
        return float(law[:49].sum()) - share_below_50

    # The rarer the long lists, the more even the lengths.
    low, high = math.log(0.5), math.log(200.0)
    if excess(low) > 0 or excess(high) < 0:
        raise ValueError(
            f"no gamma law on 1..{longest} has mean {mean:g} and P(l < 50) = {share_below_50:g}"
        )
    return math.exp(float(optimize.brentq(excess, low, high, xtol=1e-12)))


def _drawn_lengths(
    law: NDArray[np.float64], n_users: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw independent lengths from a law on 1, 2, ..."""
    edges = np.cumsum(law)
    edges[-1] = 1.0
    return np.asarray(np.searchsorted(edges, rng.random(n_users), side="right") + 1, dtype=np.int64)


def _zipf_weights(n_keys: int, exponent: float) -> NDArray[np.float64]:
    weights = np.arange(1, n_keys + 1, dtype=np.float64) ** -exponent
    return np.asarray(weights / weights.sum(), dtype=np.float64)


_SUCCESSIVE = (
    "a user's keys are drawn one after another without replacement: the shares of users that hold "
    "the keys are flatter than these weights"
)


def talkingdata(
    *,
    rng: RngLike,
    n_users: int = 60_822,
    n_keys: int = 306,
    mean_length: float = 21.1,
    share_below_50: float = 0.98,
    exponent: float = 1.0,
    value_law: ValueLaw = "per_key",
    value_spread: float = 0.5,
    length_slope: float = 0.0,
) -> KeyValueData:
    """Make a stand-in for HISKV's TalkingData table. It is a stand-in, not a calibration.

    Known are 60,822 users, 306 keys, a density of 6.9 % (21.1 pairs a user) and that 98 % of the
    lengths are below 50. Everything else is assumed: gamma lengths with these two numbers, Zipf
    keys, and values of which nobody says what they are.

    Parameters
    ----------
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    n_users, n_keys : int
        Both at least 1.
    mean_length : float
        Mean number of pairs of a user, in [1, n_keys].
    share_below_50 : float
        Share of users with fewer than 50 pairs, in [0, 1]; it fixes the gamma law's shape.
    exponent : float
        In [0, 10]: key j is drawn with weight (j + 1)^-exponent.
    value_law : {"per_key", "independent"}
        "per_key": each key has a mean, uniform on [-1, 1], and values are uniform around it.
        "independent": values are uniform on [-1, 1], whatever the key.
    value_spread : float
        In [0, 1]: half-width of the values around their key's mean, less near -1 and 1; only for
        "per_key". At 0 all holders of a key have one value.
    length_slope : float
        In [-1, 1]: by how much the mean is higher for the longest users than for the middle one.
        Unless it is 0, cutting long lists biases the estimated means.

    Returns
    -------
    KeyValueData
        Key 0 has the largest weight. A key may have no holder.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range, or no gamma law has this mean and this share.

    Notes
    -----
    Source: HISKV, Table 2 and text.
    """
    n_keys = _count("n_keys", n_keys, 10**6)
    mean_length = _real("mean_length", mean_length, 1, n_keys)
    share_below_50 = _real("share_below_50", share_below_50, 0, 1)
    shape = _gamma_shape(mean_length, share_below_50, n_keys)
    return _stand_in(
        "talkingdata",
        n_users,
        n_keys,
        _gamma_law(mean_length, shape, n_keys),
        exponent,
        value_law,
        value_spread,
        length_slope,
        {"mean_length": mean_length, "share_below_50": share_below_50},
        [
            "a stand-in, not a calibration: the real table is unpublished",
            f"lengths have a gamma law at whole numbers with mean {mean_length:g} and "
            f"P(l < 50) = {share_below_50:g}; that they are gamma is assumed",
        ],
        rng,
    )


def jdata(
    *,
    rng: RngLike,
    n_users: int = 105_180,
    n_keys: int = 442,
    mean_length: float = 11.5,
    length_shape: float = 1.0,
    exponent: float = 1.0,
    value_law: ValueLaw = "per_key",
    value_spread: float = 0.5,
    length_slope: float = 0.0,
) -> KeyValueData:
    """Make a stand-in for HISKV's JData table. It is a stand-in, not a calibration.

    Known are 105,180 users and 442 brands. Brands per user lie between categories per user (3.6)
    and products per user (36.7); where is unknown.

    Parameters
    ----------
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    n_users, n_keys : int
        Both at least 1.
    mean_length : float
        Mean number of pairs of a user, in [3.6, 36.7]; the default is the geometric middle.
    length_shape : float
        Shape of the gamma law of the lengths, in [.1, 100]; 1 is the exponential law.
    exponent, value_law, value_spread, length_slope
        As in `talkingdata`.

    Returns
    -------
    KeyValueData
        Key 0 has the largest weight. A key may have no holder.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.

    Notes
    -----
    Source: HISKV, Table 2; bounds of the mean from the queries named in `PUBLISHED`.
    """
    n_keys = _count("n_keys", n_keys, 10**6)
    mean_length = _real("mean_length", mean_length, *JDATA_MEAN_RANGE)
    length_shape = _real("length_shape", length_shape, 0.1, 100)
    return _stand_in(
        "jdata",
        n_users,
        n_keys,
        _gamma_law(mean_length, length_shape, n_keys),
        exponent,
        value_law,
        value_spread,
        length_slope,
        {"mean_length": mean_length, "length_shape": length_shape},
        [
            "a stand-in, not a calibration: the real table is unpublished",
            f"users have {mean_length:g} brands on average; published numbers only say between "
            f"{JDATA_MEAN_RANGE[0]:g} and {JDATA_MEAN_RANGE[1]:g}",
            f"lengths have a gamma law at whole numbers of shape {length_shape:g}",
        ],
        rng,
    )


def _stand_in(
    base: str,
    n_users: int,
    n_keys: int,
    length_law: NDArray[np.float64],
    exponent: float,
    value_law: ValueLaw,
    value_spread: float,
    length_slope: float,
    parameters: Mapping[str, object],
    assumptions: Sequence[str],
    rng: RngLike,
) -> KeyValueData:
    n_users = _count("n_users", n_users, 10**9)
    exponent = _real("exponent", exponent, 0, 10)
    generator = np.random.default_rng(rng)
    lengths = _drawn_lengths(length_law, n_users, generator)
    indptr = _indptr(lengths)
    keys = _race(indptr, _zipf_weights(n_keys, exponent), generator)
    values, value_assumptions = _assumed_values(
        keys, lengths, n_keys, value_law, value_spread, length_slope, generator
    )
    return _assembled(
        base,
        indptr,
        keys,
        values,
        n_keys,
        {
            "n_users": n_users,
            "n_keys": n_keys,
            **parameters,
            "exponent": exponent,
            "value_law": value_law,
            "value_spread": value_spread,
            "length_slope": length_slope,
        },
        [
            *assumptions,
            f"keys have Zipf weights with exponent {exponent:g}",
            _SUCCESSIVE,
            *value_assumptions,
        ],
    )


def _poisson_law(rate: float, longest: int) -> NDArray[np.float64]:
    """Poisson law given that it falls in 1..longest."""
    log_law = stats.poisson.logpmf(np.arange(1, longest + 1), rate)
    law = np.exp(log_law - log_law.max())
    return np.asarray(law / law.sum(), dtype=np.float64)


def _synthetic(
    base: str,
    n_users: int,
    mean_length: float,
    weights: NDArray[np.float64],
    key_means: NDArray[np.float64],
    value_spread: float,
    parameters: Mapping[str, object],
    assumptions: Sequence[str],
    generator: np.random.Generator,
) -> KeyValueData:
    n_keys = weights.size
    lengths = _drawn_lengths(_poisson_law(mean_length, n_keys), n_users, generator)
    indptr = _indptr(lengths)
    keys = _race(indptr, weights, generator)
    values = _spread_values(keys, lengths, key_means, value_spread, 0.0, generator)
    return _assembled(
        base,
        indptr,
        keys,
        values,
        n_keys,
        {
            "n_users": n_users,
            "n_keys": n_keys,
            "mean_length": mean_length,
            **parameters,
            "value_spread": value_spread,
        },
        [
            "HISKV states the size of this set and nothing else",
            f"lengths are Poisson({mean_length:g}) given that they fall in 1..{n_keys}",
            *assumptions,
            _SUCCESSIVE,
            "every holder of a key has the same value"
            if value_spread == 0
            else "a holder's value is uniform around the key's value, half-width "
            f"min({value_spread:g}, 1 - |value|)",
        ],
    )


def gauss(
    n_users: int = 10**6,
    n_keys: int = 100,
    *,
    rng: RngLike,
    mean_length: float = 10.0,
    key_scale: float = 50.0,
    value_spread: float = 0.0,
) -> KeyValueData:
    """Make a stand-in for HISKV's set GAUSS: several half-normal keys a user.

    Keys have the weights of `ldpkv.data.gaussian` (the PCKV authors' generator, one pair a user),
    and each key's value is a standard normal cut to [-1, 1]. HISKV states only the size.

    Parameters
    ----------
    n_users, n_keys : int
        Both at least 1.
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    mean_length : float
        Rate of the Poisson law of the lengths before it is cut to 1..n_keys, in (0, n_keys].
        For one pair a user call `ldpkv.data.gaussian`.
    key_scale : float
        At least n_keys / 10, so that every key can be drawn; 50 in the authors' code.
    value_spread : float
        As in `ldpkv.data.uniform`.

    Returns
    -------
    KeyValueData
        Key 0 has the largest weight.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.
    """
    n_users, n_keys, mean_length, value_spread = _synthetic_sizes(
        n_users, n_keys, mean_length, value_spread
    )
    key_scale = _real("key_scale", key_scale, n_keys / 10)
    generator = np.random.default_rng(rng)
    # From the upper tail, where differences of the survival function keep their digits.
    weights = -np.diff(stats.norm.sf(np.arange(n_keys + 1) / key_scale))
    low, high = stats.norm.cdf([-1.0, 1.0])
    key_means = np.clip(stats.norm.ppf(generator.uniform(low, high, size=n_keys)), -1, 1)
    return _synthetic(
        "gauss",
        n_users,
        mean_length,
        weights / weights.sum(),
        key_means,
        value_spread,
        {"key_scale": key_scale},
        [
            f"keys have half-normal weights of scale {key_scale:g}",
            "a key's value is standard normal, cut to [-1, 1], whatever its weight",
        ],
        generator,
    )


def lnr(
    n_users: int = 10**6,
    n_keys: int = 100,
    *,
    rng: RngLike,
    mean_length: float = 10.0,
    value_spread: float = 0.0,
) -> KeyValueData:
    """Make a stand-in for HISKV's set LNR: several keys a user, weight and value linear in the key.

    The laws are those of `ldpkv.data.linear` (one pair a user); HISKV states only the size.

    Parameters
    ----------
    n_users, n_keys : int
        Both at least 1.
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    mean_length : float
        Rate of the Poisson law of the lengths before it is cut to 1..n_keys, in (0, n_keys].
        For one pair a user call `ldpkv.data.linear`.
    value_spread : float
        As in `ldpkv.data.uniform`; keys with value -1 or 1 get none.

    Returns
    -------
    KeyValueData
        The last key has the largest weight and the value 1.

    Raises
    ------
    TypeError, ValueError
        If an argument is not in its range.
    """
    n_users, n_keys, mean_length, value_spread = _synthetic_sizes(
        n_users, n_keys, mean_length, value_spread
    )
    weights = np.arange(1, n_keys + 1, dtype=np.float64)
    return _synthetic(
        "lnr",
        n_users,
        mean_length,
        weights / weights.sum(),
        np.linspace(-1, 1, n_keys) if n_keys > 1 else np.zeros(1),
        value_spread,
        {},
        [
            "the name is read as linear: the weight of key j is proportional to j + 1, its value "
            "rises evenly from -1 to 1"
        ],
        np.random.default_rng(rng),
    )


def _synthetic_sizes(
    n_users: int, n_keys: int, mean_length: float, value_spread: float
) -> tuple[int, int, float, float]:
    n_users, n_keys = _count("n_users", n_users, 10**9), _count("n_keys", n_keys, 10**6)
    mean_length = _real("mean_length", mean_length, 0, n_keys)
    if mean_length == 0:
        raise ValueError("mean_length must be above 0, got 0")
    return n_users, n_keys, mean_length, _real("value_spread", value_spread, 0, 1)


# --- audit scores ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CanaryScores:
    """Two samples of audit scores, with and without the canary.

    Attributes
    ----------
    included, excluded : ndarray of float64, shape (n,)
        Scores of the run with canaries, and of the side without; read-only, no unit.
    name : str
        ``canary_scores_surrogate``.
    provenance : mapping
        ``is_surrogate``, ``parameters``, ``sources`` and ``assumptions``, as for a data set.
    """

    included: NDArray[np.float64]
    excluded: NDArray[np.float64]
    name: str
    provenance: Mapping[str, object]


def canary_scores(*, rng: RngLike, n: int = 10_000) -> CanaryScores:
    """Make a surrogate of the published canary scores: two normals with their four moments.

    Parameters
    ----------
    rng : Generator, SeedSequence, int or None
        Passed through `numpy.random.default_rng`.
    n : int
        Scores on each side, at least 1; 10,000 are published.

    Returns
    -------
    CanaryScores
        Included: mean .0826, sd .0708. Excluded: mean .0002, sd .0606.

    Raises
    ------
    TypeError, ValueError
        If `n` is not an integer in its range.

    Notes
    -----
    Source: see `PUBLISHED`. The real scores are loaded by ``ldpkv.data.load_scores``.
    """
    n = _count("n", n, 10**9)
    generator = np.random.default_rng(rng)
    known = {statistic: entry.value for statistic, entry in published("canary_scores").items()}
    included = generator.normal(known["included mean"], known["included sd"], size=n)
    excluded = generator.normal(known["excluded mean"], known["excluded sd"], size=n)
    for scores in (included, excluded):
        scores.flags.writeable = False
    name = "canary_scores_surrogate"
    return CanaryScores(
        included=included,
        excluded=excluded,
        name=name,
        provenance=MappingProxyType(
            {
                "name": name,
                "sha256": None,
                "is_real": False,
                "is_surrogate": True,
                "surrogate_of": "canary_scores",
                "parameters": {"n": n, **known},
                "sources": (_CANARY,),
                "assumptions": (
                    "both sides are normal; only their means and standard deviations are those "
                    "of the published scores",
                    "scores are independent, although the published ones come from one training "
                    "run",
                    "the published side without canary was not measured either: its authors drew "
                    "it from a normal",
                ),
            }
        ),
    )
