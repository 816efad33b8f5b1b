"""Page 01: what Padding-and-Sampling sends, for lists of any length."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from ldpkv import theory
from ldpkv.data import KeyValueData
from ldpkv.mechanisms import User, padded_symbol_law
from ldpkv.papers import plots
from ldpkv.papers.evidence import (
    EXACT,
    Claim,
    Evidence,
    Result,
    always,
    check_profile,
    exact_if,
    num,
)
from ldpkv.sampling import Draws

PAGE = "notebooks/pckv/01-sampling.ipynb"

VALUES = (Fraction(-1), Fraction(-1, 2), Fraction(0), Fraction(1, 3), Fraction(1))
SIZES = {"quick": (3, 4), "paper": (4, 6)}


def _users(n_keys: int) -> list[dict[int, Fraction]]:
    """Every set of keys, with values that differ from key to key; the empty set too."""
    users = []
    for size in range(n_keys + 1):
        for keys in itertools.combinations(range(n_keys), size):
            for first in range(len(VALUES)):
                values = (VALUES[(first + 2 * key) % len(VALUES)] for key in keys)
                users.append(dict(zip(keys, values, strict=True)))
    return users


def _follow(user: User, n_keys: int, padding: int) -> NDArray[Any]:
    """Law of the pair that Algorithm 1 returns, line by line, in exact fractions."""
    law = np.full(2 * (n_keys + padding), Fraction(0), dtype=object)
    eta = Fraction(len(user), max(len(user), padding))
    sampled = [(eta / len(user), key, value) for key, value in user.items()]
    dummies = [((1 - eta) / padding, n_keys + i, Fraction(0)) for i in range(padding)]
    for chance, key, value in sampled + dummies:
        law[2 * key] += chance * (1 + value) / 2
        law[2 * key + 1] += chance * (1 - value) / 2
    return law


def algorithm_1(profile: str = "quick") -> Result:
    """Follow Algorithm 1 for every set of keys and compare the law that the library uses.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Largest domain and padding length.

    Returns
    -------
    Result
        One row for each (d, l, number of pairs): chance that a given pair, or a given dummy, is
        sent, and whether each value keeps its mean.
    """
    most_keys, most_padding = SIZES[check_profile(profile)]
    records = []
    for n_keys, padding in itertools.product(range(1, most_keys + 1), range(1, most_padding + 1)):
        for user in _users(n_keys):
            law = _follow(user, n_keys, padding)
            both = law[::2] + law[1::2]
            values = np.array([user.get(key, 0) for key in range(n_keys)] + [0] * padding)
            held = [both[key] for key in user]
            absent = [both[key] for key in range(n_keys) if key not in user]
            slots = max(len(user), padding)
            records.append(
                {
                    "n_keys": n_keys,
                    "padding": padding,
                    "pairs": len(user),
                    "pair_chance": held[0] if held else Fraction(0),
                    "dummy_chance": both[n_keys],
                    "rate": all(chance == Fraction(1, slots) for chance in held),
                    "others_never": not any(absent),
                    "mean_kept": bool((law[::2] - law[1::2] == values * both).all()),
                    "law_used": bool((law == padded_symbol_law(user, n_keys, padding)).all()),
                    "sums_to_one": both.sum() == 1,
                }
            )
    cases = pd.DataFrame(records)
    checks = ["rate", "others_never", "mean_kept", "law_used", "sums_to_one"]
    groups = ["n_keys", "padding", "pairs", "pair_chance", "dummy_chance"]
    table = cases.groupby(groups, as_index=False)[checks].all()
    facts = {"cases": len(cases), **{name: bool(cases[name].all()) for name in checks}}
    return Result(profile, table, facts)


def rate_table(result: Result) -> pd.DataFrame:
    """Chance of one pair and of one dummy, for the largest domain enumerated."""
    table = result.table[result.table["n_keys"] == result.table["n_keys"].max()]
    table = table[table["padding"].isin([1, 2, 4])]
    return pd.DataFrame(
        {
            "padding length l": table["padding"],
            "pairs held": table["pairs"],
            "each pair is sent": [
                str(chance) if pairs else "none held"
                for chance, pairs in zip(table["pair_chance"], table["pairs"], strict=True)
            ],
            "each dummy is sent": table["dummy_chance"].astype(str),
        }
    )


def sampling_rates(profile: str = "quick") -> Result:
    """Chance that a held pair is sent, against the size of the domain.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Largest domain.

    Returns
    -------
    Result
        One row for each d: the chance under Padding-and-Sampling with l = 5, for a user with two
        pairs, and under sampling an index of the domain.
    """
    largest = {"quick": 4, "paper": 6}[check_profile(profile)]
    user = {0: Fraction(1), 1: Fraction(-1, 2)}
    rows = []
    for exponent in range(largest + 1):
        for n_keys in (2 * 10**exponent, 10 ** (exponent + 1)):
            # Beyond 10^4 keys the law is not listed; it has the same entries.
            law = padded_symbol_law(user, min(n_keys, 10_000), 5)
            rows.append((n_keys, law[0] + law[1], Fraction(1, n_keys)))
    table = pd.DataFrame(rows, columns=["n_keys", "padding_and_sampling", "index_sampling"])
    facts = {
        "constant": table["padding_and_sampling"].nunique() == 1,
        "rate": float(table["padding_and_sampling"].iloc[0]),
        "index_falls": bool((np.diff(table["index_sampling"].astype(float)) < 0).all()),
        "domains": len(table),
    }
    return Result(profile, table, facts, "a user with two pairs, l = 5, exact")


def draw_sampling_rates(result: Result) -> Figure:
    """Draw both chances against d."""
    figure, axis = plots.new_figure()
    plots.log_axis(axis, "x")
    plots.log_axis(axis)
    ends = {}
    names = {"PCKV": "padding_and_sampling", "index sampling": "index_sampling"}
    for position, (name, column) in enumerate(names.items()):
        heights = result.table[column].astype(float)
        axis.plot(result.table["n_keys"], heights, **plots.style(name, position))
        ends[name] = (result.table["n_keys"].iloc[-1], heights.iloc[-1])
    axis.set(xlabel="number of keys d", ylabel="chance that a held pair is sent")
    figure.canvas.draw()
    plots.label_ends(axis, ends)
    return figure


def unreported_keys(profile: str = "quick") -> Result:
    """Share of keys about which nobody is asked, when every user draws a key from the domain.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Largest enumeration.

    Returns
    -------
    Result
        One row for each (d, n): by listing all d^n draws where there are few, and in closed form.
    """
    most = {"quick": 5_000, "paper": 300_000}[check_profile(profile)]
    rows = []
    for n_keys in (2, 3, 4, 5):
        for n_users in range(1, 2 * n_keys + 2):
            if n_keys**n_users > most:
                continue
            draws = itertools.product(range(n_keys), repeat=n_users)
            missing = sum(n_keys - len(set(draw)) for draw in draws)
            listed = Fraction(missing, n_keys * n_keys**n_users)
            rows.append(
                (n_keys, n_users, listed, theory.unreported_share(Fraction(n_keys), n_users))
            )
    enumerated = pd.DataFrame(rows, columns=["n_keys", "n_users", "listed", "closed_form"])
    ratios = np.round(np.linspace(0.25, 6, 24), 4)
    shares = [(5, r, theory.unreported_share(5, 5 * r)) for r in ratios]
    shares += [(10**6, r, theory.unreported_share(10**6, 10**6 * r)) for r in ratios]
    table = pd.DataFrame(shares, columns=["n_keys", "users_per_key", "share"])
    facts = {
        "cases": len(enumerated),
        "equal": bool((enumerated["listed"] == enumerated["closed_form"]).all()),
        "some_below_2d": bool(
            (enumerated["listed"] > 0)[enumerated["n_users"] < 2 * enumerated["n_keys"]].all()
        ),
        "share_at_d": theory.unreported_share(10**6, 10**6),
        "share_at_2d": theory.unreported_share(10**6, 2 * 10**6),
        "share_at_5d": theory.unreported_share(10**6, 5 * 10**6),
    }
    return Result(profile, table, facts, "exact expectation (1 - 1/d)^n")


def draw_unreported_keys(result: Result) -> Figure:
    """Draw the share of keys without a report against the users per key."""
    figure, axis = plots.new_figure()
    ends = {}
    for position, (n_keys, part) in enumerate(result.table.groupby("n_keys")):
        name = "d = 5" if n_keys == 5 else "d = 10⁶"
        look = {**plots.style(name, position), "markevery": 3}
        axis.plot(part["users_per_key"], part["share"], **look)
        ends[name] = (part["users_per_key"].iloc[-1], part["share"].iloc[-1])
    axis.axvline(2, color=plots.BLACK, linewidth=0.8, linestyle=":")
    axis.text(2.08, 0.72, "n = 2d", fontsize="small")
    axis.set(xlabel="users per key n / d", ylabel="share of keys without a report", ylim=(0, 0.85))
    figure.canvas.draw()
    plots.label_ends(axis, ends)
    return figure


def unsampled_keys(profile: str = "quick", seed: int = 2020) -> Result:
    """Expected share of keys that no holder sends, by the number of holders.

    Parameters
    ----------
    profile : {"quick", "paper"}
        10^4 or 10^6 users; as many keys as users.
    seed : int, default 2020
        Seed of the users' lists.

    Returns
    -------
    Result
        One row for each class of keys. Given the lists nothing is random: the chance that nobody
        sends key k is the product of 1 - 1 / max(|S|, l) over its holders.
    """
    n_users = {"quick": 10**4, "paper": 10**6}[check_profile(profile)]
    n_keys, padding = n_users, 5
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, n_keys + 1)
    # Three draws by Zipf's law a user; a key drawn twice is one pair.
    keys = rng.choice(n_keys, size=3 * n_users, p=weights / weights.sum())
    users = np.repeat(np.arange(n_users), 3)
    data = KeyValueData.from_pairs(
        users, keys, np.zeros(len(keys)), n_keys=n_keys, duplicates="first"
    )
    holders = np.bincount(data.keys, minlength=n_keys)
    chance = np.repeat(1 / np.maximum(data.lengths, padding), data.lengths)
    nobody = np.exp(np.bincount(data.keys, np.log1p(-chance), minlength=n_keys))
    by_index = (1 - 1 / n_keys) ** holders
    edges = (1, 5, 20, 100, n_users + 1)
    rows = []
    for low, high in itertools.pairwise(edges):
        chosen = (holders >= low) & (holders < high)
        label = f"{low} to {high - 1}" if high <= n_users else f"{low} or more"
        rows.append((label, int(chosen.sum()), nobody[chosen].mean(), by_index[chosen].mean()))
    table = pd.DataFrame(rows, columns=["holders", "keys", "padding_and_sampling", "index"])
    facts = {
        "falls": bool((np.diff(table["padding_and_sampling"]) < 0).all()),
        "rare": float(table["padding_and_sampling"].iloc[0]),
        "frequent": float(table["padding_and_sampling"].iloc[-1]),
        "frequent_by_index": float(table["index"].iloc[-1]),
    }
    setting = f"n = d = {n_users:,}, up to 3 pairs a user by Zipf's law, l = {padding}, exact"
    return Result(profile, table, facts, setting)


def unsampled_table(result: Result) -> pd.DataFrame:
    """Expected shares of unsampled keys, for the page."""
    table = result.table
    return pd.DataFrame(
        {
            "holders of the key": table["holders"],
            "keys": table["keys"],
            "unsampled, Padding-and-Sampling": table["padding_and_sampling"],
            "unsampled, index sampling": table["index"],
        }
    )


def one_draw(profile: str = "quick") -> Result:
    """Run `Draws.pad` on every pair, sign and step of a fine grid of uniform numbers.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Largest padding length.

    Returns
    -------
    Result
        One row for each user and padding length. The grid's steps fit all padding lengths at
        once, so that counting its midpoints gives the exact law.
    """
    most = {"quick": 4, "paper": 6}[check_profile(profile)]
    steps = 2 * math.lcm(*range(1, most + 1)) ** 2
    middle = (np.arange(steps) + 0.5) / steps
    n_keys = 3
    records = []
    for user in _users(n_keys):
        # One draw for each (pair, sign, step); the empty set draws no pair.
        pairs = [(key, sign) for key in user for sign in (0, 1)] or [(-1, 0)]
        weights = [
            Fraction(1, len(user)) * (1 - value if sign else 1 + value) / 2
            for value in user.values()
            for sign in (0, 1)
        ] or [Fraction(1)]
        key, sign = (np.repeat(np.array(column), steps) for column in zip(*pairs, strict=True))
        draws = Draws(
            key.astype(np.int32),
            sign.astype(np.int8),
            np.tile(middle, len(pairs)),
            np.full(len(key), len(user)),
            n_keys,
        )
        kept_before = np.ones(len(key), dtype=bool)
        codes_before = np.where(key < 0, -1, 2 * key + sign)
        for padding in range(1, most + 1):
            codes = draws.pad(padding).codes
            law = np.full(2 * (n_keys + padding), Fraction(0), dtype=object)
            for weight, part in zip(weights, codes.reshape(len(pairs), steps), strict=True):
                law += weight * np.bincount(part, minlength=len(law)).astype(object) / steps
            kept = codes < 2 * n_keys
            records.append(
                {
                    "pairs": len(user),
                    "padding": padding,
                    "law": bool((law == _follow(user, n_keys, padding)).all()),
                    "nested": bool((kept <= kept_before).all()),
                    "same_pair": bool((codes == codes_before)[kept].all()),
                }
            )
            kept_before = kept
    table = pd.DataFrame(records)
    facts = {"cases": len(table), **{c: bool(table[c].all()) for c in table.columns[2:]}}
    return Result(profile, table, facts)


def truncation(profile: str = "quick") -> Result:
    """What the estimators aim at when lists are longer than the padding, exactly.

    Parameters
    ----------
    profile : {"quick", "paper"}
        Largest domain of the enumeration.

    Returns
    -------
    Result
        One row for each population and padding length: relative bias of the frequency and bias of
        the mean of one key. In one population every holder has the value 0.5; in the other the
        value falls with the length of the list, and is 0.5 on average.
    """
    longest = 8
    lengths = np.repeat(np.arange(1, longest + 1), 7)
    populations = {
        "equal values": np.full(len(lengths), 0.5),
        "values fall with length": 1 - (lengths - 1) / (longest - 1),
    }
    rows = []
    for name, values in populations.items():
        data = _with_lengths(lengths, values, longest)
        truth = data.truth()
        for padding in range(1, longest + 2):
            limit = theory.limit_estimates(data, padding)
            rows.append(
                {
                    "population": name,
                    "padding": padding,
                    "truncated": float(np.mean(lengths > padding)),
                    # Rounded, or zeros would show the rounding of the machine.
                    "frequency_bias": round(limit.frequency[0] / truth.frequency[0] - 1, 12),
                    "mean_bias": round(limit.mean[0] - truth.mean[0], 12),
                }
            )
    table = pd.DataFrame(rows)
    equal, falling = (table[table["population"] == name] for name in populations)
    short = table["padding"] < longest
    facts = {
        **_smallest_truncated(),
        **_weights_agree(SIZES[check_profile(profile)][0]),
        "frequency_too_low": bool((table["frequency_bias"] < 0)[short].all()),
        "none_when_long": bool(
            (table[["frequency_bias", "mean_bias"]].abs() < 1e-12)[~short].all().all()
        ),
        "mean_kept_if_equal": bool((equal["mean_bias"].abs() < 1e-12).all()),
        "mean_biased_else": bool((falling["mean_bias"] > 1e-3)[falling["padding"] < longest].all()),
        "worst_frequency": float(table["frequency_bias"].min()),
        "worst_mean": float(table["mean_bias"].max()),
    }
    setting = "lists of 1 to 8 pairs, equally many of each, all hold the key; exact limits"
    return Result(profile, table, facts, setting)


def _with_lengths(
    lengths: NDArray[np.int64], values: NDArray[np.float64], n_keys: int
) -> KeyValueData:
    sets = [
        {0: float(value), **dict.fromkeys(range(1, int(length)), 0.0)}
        for length, value in zip(lengths, values, strict=True)
    ]
    return KeyValueData.from_sets(sets, n_keys=n_keys)


def _smallest_truncated() -> dict[str, Any]:
    """Two users, one of them with a list longer than l = 1; from the law of their symbols."""
    users: list[User] = [{0: Fraction(1)}, {0: Fraction(-1), 1: Fraction(-1)}]
    laws = [_follow(user, 2, 1) for user in users]
    share = sum(law[0] + law[1] for law in laws)
    total = sum(law[0] - law[1] for law in laws)
    return {
        "example_frequency": share / 2,
        "example_mean": total / share,
    }


def _weights_agree(n_keys: int) -> dict[str, Any]:
    """Compare the weights l / max(|S|, l) with the enumerated law, for all pairs of users."""
    agree, cases = True, 0
    users = [user for user in _users(n_keys) if user]
    for padding in (1, 2):
        for one, two in itertools.product(users[:: len(VALUES)], users):
            laws = [_follow(user, n_keys, padding) for user in (one, two)]
            both = sum(law[: 2 * n_keys : 2] + law[1 : 2 * n_keys : 2] for law in laws)
            total = sum(law[: 2 * n_keys : 2] - law[1 : 2 * n_keys : 2] for law in laws)
            sets = [{key: float(value) for key, value in user.items()} for user in (one, two)]
            limit = theory.limit_estimates(KeyValueData.from_sets(sets, n_keys=n_keys), padding)
            exact = np.array([both, total], dtype=object) * Fraction(padding, 2)
            found = np.array([limit.frequency, limit.total])
            agree &= bool(np.allclose(found, exact.astype(float), rtol=0, atol=1e-12))
            cases += 1
    return {"weights_agree": agree, "weight_cases": cases}


def draw_truncation(result: Result) -> Figure:
    """Draw the two biases against the padding length."""
    figure, axes = plots.new_figure(2)
    columns = ("frequency_bias", "mean_bias")
    labels = ("relative bias of the frequency (%)", "bias of the mean")
    for axis, column, label in zip(axes, columns, labels, strict=True):
        scale = 100 if column == "frequency_bias" else 1
        for position, (name, part) in enumerate(result.table.groupby("population")):
            look = plots.style(str(name), position)
            axis.plot(part["padding"], scale * part[column], **look)
        axis.axhline(0, color=plots.BLACK, linewidth=0.8)
        axis.set(xlabel="padding length l", ylabel=label)
        axis.set_xticks(sorted(result.table["padding"].unique()))
    axes[0].text(4.3, -40, "the same for both\npopulations", fontsize="small")
    axes[1].text(3.6, 0.125, "values fall with length", fontsize="small", color=plots.VERMILION)
    axes[1].text(1.2, 0.008, "equal values", fontsize="small", color=plots.BLUE)
    return figure


# --- judges ---------------------------------------------------------------------------------


def _judge_algorithm_1(result: Result) -> Evidence:
    facts = result.facts
    checks = ("rate", "others_never", "mean_kept", "law_used", "sums_to_one")
    return exact_if(
        all(facts[name] for name in checks),
        f"both hold for {facts['cases']} sets of pairs" if facts["rate"] else "fails for a set",
        "E[v] = v*, and each held pair is sent with probability 1 / max(|S|, l)",
        "Enumerated line by line, empty sets and lists longer than l included; the mechanisms use "
        "the same law.",
    )


def _judge_rates(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["constant"] and facts["index_falls"],
        f"{num(facts['rate'])} for all {facts['domains']} domains with l = 5",
        "the same for every d",
        "Sampling an index of the domain, as PrivKVM does, sends a held pair with probability 1/d.",
    )


def _judge_unreported(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["equal"] and facts["some_below_2d"],
        f"expected share {num(facts['share_at_d'])} at n = d, {num(facts['share_at_2d'])} at "
        f"n = 2d, {num(facts['share_at_5d'], 2)} at n = 5d",
        "some keys without a report when n < 2d",
        f"The share is (1 - 1/d)^n, equal to a full listing in {facts['cases']} cases. Nothing "
        "changes abruptly at n = 2d.",
    )


def _judge_unsampled(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["falls"] and facts["frequent"] < 1e-6 < facts["rare"],
        f"expected share not sent: {num(facts['rare'], 2)} of the keys with 1 to 4 holders, "
        f"{num(facts['frequent'], 1)} of those with 100 or more",
        "only infrequent keys remain unsampled",
        f"Index sampling leaves {num(facts['frequent_by_index'], 2)} of the keys with 100 or more "
        "holders without any holder's report. Exact given the lists, which are one seeded draw.",
    )


def _judge_one_draw(result: Result) -> Evidence:
    facts = result.facts
    return exact_if(
        facts["law"] and facts["nested"] and facts["same_pair"],
        f"exact law in {facts['cases']} cases, and pairs sent at l + 1 are sent at l",
        "Algorithm 1's law at every padding length, from one draw a user",
        "Saves time, and makes comparisons between padding lengths paired; no paper claims it.",
    )


def _judge_truncated_mean(result: Result) -> Evidence:
    facts = result.facts
    frequency, mean = facts["example_frequency"], facts["example_mean"]
    usual = ("weights_agree", "frequency_too_low", "none_when_long", "mean_kept_if_equal")
    return exact_if(
        all(facts[name] for name in usual) and facts["mean_biased_else"] and mean != 0,
        f"two users, l = 1: frequency {frequency} instead of 1, mean {mean} instead of 0",
        "each holder counts with weight l / max(|S|, l)",
        "The paper speaks of the frequency only. The mean is biased where values and list lengths "
        f"go together, and right where they do not. Weights checked in {facts['weight_cases']} "
        "enumerated cases.",
    )


CLAIMS = (
    Claim(
        id="pckv-alg-1",
        paper="pckv",
        label="Algorithm 1 (pckv-3)",
        kind="statement",
        mark="text",
        statement="Discretising a value keeps its expectation, and Padding-and-Sampling sends each "
        "pair of a set S with probability 1 / max(|S|, l).",
        run=algorithm_1,
        judge=_judge_algorithm_1,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-alg-1-one-draw",
        paper="pckv",
        label="One draw for all padding lengths (own)",
        kind="statement",
        mark="own",
        statement="One pair, one sign and one uniform number a user give Algorithm 1's law at "
        "every padding length.",
        run=one_draw,
        judge=_judge_one_draw,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-sampling-rate",
        paper="pckv",
        label="Sampling rate and the domain (pckv-54)",
        kind="statement",
        mark="text",
        statement="A large domain does not change the probability that a pair which a user holds "
        "is sampled.",
        run=sampling_rates,
        judge=_judge_rates,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-unreported-keys",
        paper="pckv",
        label="Keys without a report in PrivKVM (pckv-54, second part)",
        kind="statement",
        mark="text",
        statement="When users draw a key from the domain and there are fewer than 2d of them, some "
        "keys may get no report.",
        run=unreported_keys,
        judge=_judge_unreported,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-unsampled-keys",
        paper="pckv",
        label="Keys that nobody samples (pckv-59)",
        kind="statement",
        mark="text",
        statement="With Padding-and-Sampling only infrequent keys may remain unsampled, even with "
        "fewer users than keys.",
        run=unsampled_keys,
        judge=_judge_unsampled,
        page=PAGE,
        recorded=always(EXACT),
    ),
    Claim(
        id="pckv-truncated-mean",
        paper="pckv",
        label="Lists longer than the padding (own)",
        kind="statement",
        mark="own",
        statement="A padding length that is too short biases the frequencies, and also the means "
        "of keys whose values depend on the length of the list.",
        run=truncation,
        judge=_judge_truncated_mean,
        page=PAGE,
        recorded=always(EXACT),
    ),
)
