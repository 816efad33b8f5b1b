"""Closed forms of PCKV: what the paper prints, and beside it what is true.

Everything is a function of a mechanism's own numbers (`Numbers`) and of what the users hold. All
arguments may be numpy arrays, which broadcast; with `fractions.Fraction` the results are exact.
Letters of the paper, used in the formulas below:

* a, b, p, l: `keep_key`, `fake_key`, `keep_sign`, `padding`; d' = d + l;
* f, m: true frequency and mean of one key; n: number of users;
* E = e^epsilon, theta = e^epsilon_1 (`exp_key`);
* delta = (a - b) f / l and gamma = a (2 p - 1) f / l.

Three laws of the data must be told apart, since the paper mixes them. *Sampled*: the pair that
each user sampled is fixed, only the channel is random. *Fixed*: the users' sets are fixed,
sampling and channel are random; this is what repeated experiments on one data set see. *iid*:
the users too are drawn, independently, from a population with frequency f and mean m.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from ldpkv import _check, allocation, channels
from ldpkv.data import KeyValueData
from ldpkv.estimation import CORRECTIONS, Counts, Estimates, estimate_pckv
from ldpkv.mechanisms import PCKVGRR, PCKVUE

Number: TypeAlias = Any  # int, Fraction, float or an array of them

LAWS = ("fixed", "iid")


class Numbers(NamedTuple):
    """The numbers of a padded mechanism on which all errors depend.

    Parameters
    ----------
    keep_key, fake_key, keep_sign : number or array
        a, b, p, in [0, 1]; a != b wherever an estimator is meant.
    padding : int or array of int
        l, at least 1.
    """

    keep_key: Number
    fake_key: Number
    keep_sign: Number
    padding: Number

    @classmethod
    def of(cls, mechanism: PCKVUE | PCKVGRR) -> Numbers:
        """Read them off a mechanism."""
        return cls(mechanism.keep_key, mechanism.fake_key, mechanism.keep_sign, mechanism.padding)

    @classmethod
    def ue(cls, exp_key: Number, exp_value: Number, padding: Number = 1) -> Numbers:
        """PCKV-UE with OUE keys, equation (19); arrays allowed, unlike in `PCKVUE`."""
        # exp_key / (2 exp_key) is one half of the same kind: float, Fraction or array of either.
        half = exp_key / (exp_key + exp_key)
        return cls(half, 1 / (exp_key + 1), exp_value / (exp_value + 1), padding)

    @classmethod
    def grr(cls, exp_key: Number, exp_value: Number, n_keys: Number, padding: Number) -> Numbers:
        """PCKV-GRR over d' = d + l keys, Algorithm 3; arrays allowed, unlike in `PCKVGRR`."""
        keep, fake = channels.grr_probabilities(exp_key, n_keys + padding)
        return cls(keep, fake, exp_value / (exp_value + 1), padding)


# --- frequency oracles of one item -----------------------------------------------------------


def oracle_variance(p: Number, q: Number, frequency: Number, n_users: Number) -> Number:
    """Variance of (share - q) / (p - q) for any pure frequency oracle.

    Exact for fixed data: the reports are n independent Bernoulli variables, f n of them with
    probability p and the rest with q, and p (1 - p) - q (1 - q) = (p - q) (1 - p - q).

    Parameters
    ----------
    p, q : number or array
        Probability that a report supports the item of a holder, and of a non-holder; p != q.
    frequency : number or array
        f in [0, 1].
    n_users : int or array
        n.

    Returns
    -------
    number or array
        q (1 - q) / (n (p - q)^2) + f (1 - p - q) / (n (p - q)).

    Notes
    -----
    Source: PCKV section 3.2 (MSE of GRR, RAPPOR and OUE).
    """
    gap = p - q
    return q * (1 - q) / (n_users * gap**2) + frequency * (1 - p - q) / (n_users * gap)


def grr_oracle_variance(
    exp_epsilon: Number, size: Number, frequency: Number, n_users: Number
) -> Number:
    """`oracle_variance` of GRR over `size` categories, simplified.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.
    size : int or array
        Number of categories d, at least 2.
    frequency, n_users : number or array
        f and n.

    Returns
    -------
    number or array
        (E + d - 2) / (n (E - 1)^2) + f (d - 2) / (n (E - 1)).
    """
    gap = exp_epsilon - 1
    return (exp_epsilon + size - 2) / (n_users * gap**2) + frequency * (size - 2) / (n_users * gap)


def rappor_oracle_variance(exp_half: Number, n_users: Number) -> Number:
    """`oracle_variance` of basic RAPPOR, simplified; it does not depend on f.

    Parameters
    ----------
    exp_half : number or array
        e^(epsilon / 2), above 1; the half is what keeps fractions exact.
    n_users : int or array
        n.

    Returns
    -------
    number or array
        r / (n (r - 1)^2) with r = e^(epsilon / 2).
    """
    return exp_half / (n_users * (exp_half - 1) ** 2)


def oue_oracle_variance(exp_epsilon: Number, frequency: Number, n_users: Number) -> Number:
    """`oracle_variance` of OUE, simplified.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.
    frequency, n_users : number or array
        f and n.

    Returns
    -------
    number or array
        4 E / (n (E - 1)^2) + f / n.
    """
    return 4 * exp_epsilon / (n_users * (exp_epsilon - 1) ** 2) + frequency / n_users


# --- what the estimators aim at --------------------------------------------------------------


def limit_estimates(data: KeyValueData, padding: int) -> Estimates:
    """Say what (7) and (8) estimate when users may hold more than l pairs.

    A user with L pairs samples each of them with probability 1 / max(L, l), so a pair enters the
    counts with weight w = l / max(L, l): 1 for a short list, less for a long one.

    Parameters
    ----------
    data : KeyValueData
        The users' sets.
    padding : int
        Padding length l.

    Returns
    -------
    Estimates
        `frequency` and `total` are the exact expectations of the unclipped estimators, sums of
        w and w v over the key's pairs, divided by n. `mean`, their ratio, is where the mean
        tends as n grows; NaN where nobody holds the key. With no long list all three are the
        truth.

    Notes
    -----
    Source: PCKV Algorithm 1 with equations (7) and (8); the paper states the case of short lists.
    """
    key, shares, values = _holdings(data, padding)
    n_users = len(data.indptr) - 1
    frequency = padding * np.bincount(key, shares, minlength=data.n_keys) / n_users
    total = padding * np.bincount(key, values, minlength=data.n_keys) / n_users
    mean = np.divide(total, frequency, out=np.full(data.n_keys, np.nan), where=frequency > 0)
    return Estimates(frequency, total, mean)


def _holdings(
    data: KeyValueData, padding: int
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]:
    # One row per user and key: the key, the probability s that the user samples it, and the
    # expected sign v s. A user who holds a key twice (duplicates kept) has one row with the sums.
    padding = _check.integer("padding", padding, minimum=1)
    lengths = np.diff(data.indptr)
    chance = np.repeat(1 / np.maximum(lengths, padding), lengths)
    user = np.repeat(np.arange(len(lengths)), lengths)
    new = np.ones(len(user), dtype=bool)
    new[1:] = (np.diff(user) != 0) | (np.diff(data.keys) != 0)
    starts = np.flatnonzero(new)
    if not len(starts):
        return data.keys, chance, chance
    return (
        data.keys[starts],
        np.add.reduceat(chance, starts),
        np.add.reduceat(chance * data.values, starts),
    )


# --- Theorem 4: the frequency ----------------------------------------------------------------


def frequency_variance_printed(numbers: Numbers, frequency: Number, n_users: Number) -> Number:
    """Equation (9) as printed: the variance given the sampled pairs.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l.
    frequency, n_users : number or array
        f in [0, 1] and n.

    Returns
    -------
    number or array
        l^2 b (1 - b) / (n (a - b)^2) + l f (1 - a - b) / (n (a - b)).

    Notes
    -----
    Source: PCKV Theorem 4, equation (9). It is l^2 times `oracle_variance` at frequency f / l:
    exact if f n / l users sampled the key for certain. See `frequency_variance`.
    """
    a, b, _, padding = numbers
    return padding**2 * oracle_variance(a, b, frequency / padding, n_users)


def frequency_variance(
    numbers: Numbers, frequency: Number, n_users: Number, *, users: str = "fixed"
) -> Number:
    """Variance of the estimator (7), sampling included; exact if no user has more than l pairs.

    Proof. By total variance, (9) plus the variance of l N / n, where N users sample the key. Each
    of the f n holders does so with probability 1 / l, so N is binomial(f n, 1 / l) for fixed
    data and binomial(n, f / l) for iid users.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l.
    frequency, n_users : number or array
        f in [0, 1] and n.
    users : {"fixed", "iid"}
        Law of the data.

    Returns
    -------
    number or array
        (9) + f (l - 1) / n, or (9) + f (l - f) / n.

    Raises
    ------
    ValueError
        If `users` is unknown.

    Notes
    -----
    Source: PCKV Theorem 4, equation (9), corrected. The added term does not shrink as epsilon
    grows.
    """
    unsampled = 1 if _check.one_of("users", users, LAWS) == "fixed" else frequency
    sampling = frequency * (numbers.padding - unsampled) / n_users
    return frequency_variance_printed(numbers, frequency, n_users) + sampling


# --- Theorem 4: the mean, to first order -----------------------------------------------------


class Moments(NamedTuple):
    """Exact first and second moments of a key's counts.

    Parameters
    ----------
    support, difference : number or array
        Expectations of (n_1 + n_2) / n and (n_1 - n_2) / n.
    support_variance, difference_variance, covariance : number or array
        Their variances and covariance.
    """

    support: Number
    difference: Number
    support_variance: Number
    difference_variance: Number
    covariance: Number


def moments_iid(numbers: Numbers, frequency: Number, mean: Number, n_users: Number) -> Moments:
    """Moments of a key's counts for iid users with at most l pairs.

    The n reports are then independent and alike: +1, -1 or neither with probabilities
    (b + delta + gamma m) / 2, (b + delta - gamma m) / 2 and the rest.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l.
    frequency, mean, n_users : number or array
        f, m and n.

    Returns
    -------
    Moments
        Exact.
    """
    a, b, p, padding = numbers
    support = b + (a - b) * frequency / padding
    difference = a * (2 * p - 1) * frequency * mean / padding
    return Moments(
        support,
        difference,
        support * (1 - support) / n_users,
        (support - difference**2) / n_users,
        difference * (1 - support) / n_users,
    )


def moments_of_data(numbers: Numbers, data: KeyValueData) -> Moments:
    """Moments of every key's counts for fixed data, with lists of any length.

    Proof. Users are independent. User u, who samples the key with probability s_u and expected
    sign t_u, supports it with probability q_u = b + (a - b) s_u and expected sign
    r_u = a (2 p - 1) t_u. So the variances of u's support and sign, and their covariance, are
    q_u (1 - q_u), q_u - r_u^2 and r_u (1 - q_u): add them up and divide by n^2.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l; single numbers, as floats.
    data : KeyValueData
        The users' sets.

    Returns
    -------
    Moments
        Exact up to rounding; every field has shape (n_keys,).

    Notes
    -----
    Source: derived; with at most l pairs a user it gives `frequency_variance` and
    `mean_variance` of fixed data.
    """
    a, b, p = (float(number) for number in numbers[:3])
    key, share, sign = _holdings(data, numbers.padding)
    n_users = len(data.indptr) - 1

    def total(weights: NDArray[np.float64]) -> NDArray[Any]:
        return np.bincount(key, weights, minlength=data.n_keys)

    gap, strength = a - b, a * (2 * p - 1)
    support = n_users * b + gap * total(share)
    difference = strength * total(sign)
    squares = n_users * b * b + 2 * b * gap * total(share) + gap**2 * total(share**2)
    products = strength * (b * total(sign) + gap * total(share * sign))
    return Moments(
        support / n_users,
        difference / n_users,
        (support - squares) / n_users**2,
        (support - strength**2 * total(sign**2)) / n_users**2,
        (difference - products) / n_users**2,
    )


def frequency_variance_of(numbers: Numbers, moments: Moments) -> Number:
    """Exact variance of the unclipped frequency estimator from the counts' moments.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l.
    moments : Moments
        From `moments_of_data` (any lengths) or `moments_iid`.

    Returns
    -------
    number or array
        (l / (a - b))^2 times the support's variance: the estimator (7) is affine in the counts.
    """
    scale = numbers.padding / (numbers.keep_key - numbers.fake_key)
    return scale**2 * moments.support_variance


def mean_first_order(numbers: Numbers, moments: Moments) -> tuple[Number, Number, Number]:
    """Limit, and bias and variance to order 1 / n, of the unclipped mean estimator (8).

    The estimator is c X / Y with c = (a - b) / (a (2 p - 1)), X the difference and Y the support
    less b; this is the delta method on the ratio.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l, with p != 1/2.
    moments : Moments
        From `moments_of_data` or `moments_iid`, with `support` != b.

    Returns
    -------
    limit, bias, variance : number or array
        c EX / EY; c (EX Var Y / EY^3 - Cov / EY^2), relative to that limit; and
        c^2 (Var X - 2 (EX / EY) Cov + (EX / EY)^2 Var Y) / EY^2.
    """
    a, b, p, _ = numbers
    scale = (a - b) / (a * (2 * p - 1))
    excess = moments.support - b
    ratio = moments.difference / excess
    bias = scale * (ratio * moments.support_variance - moments.covariance) / excess**2
    spread = (
        moments.difference_variance
        - 2 * ratio * moments.covariance
        + ratio**2 * moments.support_variance
    )
    return scale * ratio, bias, scale**2 * spread / excess**2


def mean_bias(numbers: Numbers, frequency: Number, mean: Number, n_users: Number) -> Number:
    """Bias of the mean estimator (8) to order 1 / n, if no user has more than l pairs.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l.
    frequency, mean, n_users : number or array
        f above 0, m and n.

    Returns
    -------
    number or array
        m (1 - b - delta) b / (n delta^2); the same for fixed data and iid users.

    Notes
    -----
    Source: PCKV Theorem 4, equation (10).
    """
    a, b, _, padding = numbers
    delta = (a - b) * frequency / padding
    return mean * (1 - b - delta) * b / (n_users * delta**2)


def mean_variance_printed(
    numbers: Numbers, frequency: Number, mean: Number, n_users: Number
) -> Number:
    """Right-hand side of (11): the first-order variance for iid users, a bound for fixed data.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l, with p != 1/2.
    frequency, mean, n_users : number or array
        f above 0, m and n.

    Returns
    -------
    number or array
        (b + delta) / (n gamma^2) + (b (1 - b) - delta) m^2 / (n delta^2).

    Notes
    -----
    Source: PCKV Theorem 4, equation (11).
    """
    a, b, p, padding = numbers
    delta = (a - b) * frequency / padding
    gamma = a * (2 * p - 1) * frequency / padding
    return (b + delta) / (n_users * gamma**2) + (b * (1 - b) - delta) * mean**2 / (
        n_users * delta**2
    )


def mean_variance(
    numbers: Numbers, frequency: Number, mean: Number, n_users: Number, spread: Number = 0
) -> Number:
    """First-order variance of the mean estimator for fixed data with at most l pairs a user.

    Fixing the users removes from (11) the part that their differing values cause.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l, with p != 1/2.
    frequency, mean, n_users : number or array
        f above 0, m and n.
    spread : number or array, default 0
        Variance of the values among the key's holders, in [0, 1 - m^2]. With 0 this is (11).

    Returns
    -------
    number or array
        (11) - spread / (n f).

    Notes
    -----
    Source: PCKV Theorem 4, equation (11), sharpened. It is an equality to order 1 / n.
    """
    printed = mean_variance_printed(numbers, frequency, mean, n_users)
    return printed - spread / (n_users * frequency)


def signal(numbers: Numbers, frequency: Number, n_users: Number) -> Number:
    """How many standard deviations part the estimated frequency from 0, where (8) has a pole.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l.
    frequency, n_users : number or array
        f and n, as floats.

    Returns
    -------
    float or array
        f over the exact iid standard deviation of (7). The first-order forms (10) and (11)
        describe the estimator only where this is well above 1; below, Algorithm 4's clipping
        rules. `exact_errors` holds everywhere.
    """
    return frequency / np.sqrt(frequency_variance(numbers, frequency, n_users, users="iid"))


# --- equations (16) to (18) ------------------------------------------------------------------


def mse(variance: Number, bias: Number) -> Number:
    """Mean squared error, variance + bias^2 (PCKV equation (16))."""
    return variance + bias**2


def mu(padding: Number, frequency: Number, n_users: Number) -> Number:
    """Return the common factor of the mean's error, l^2 / (n f^2) (PCKV equation (17))."""
    return padding**2 / (n_users * frequency**2)


def g(numbers: Numbers) -> Number:
    """Return the value part of the mean's error, b / (a^2 (2 p - 1)^2) (PCKV equation (17))."""
    a, b, p, _ = numbers
    return b / (a**2 * (2 * p - 1) ** 2)


def h(numbers: Numbers) -> Number:
    """Return the key part of both errors, b (1 - b) / (a - b)^2 (PCKV equation (17))."""
    a, b, _, _ = numbers
    return b * (1 - b) / (a - b) ** 2


def objective(numbers: Numbers, mean_square: Number) -> Number:
    """Return what a budget allocation is to minimise, g + h m^2.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l, with p != 1/2.
    mean_square : number or array
        m^2 in [0, 1].

    Returns
    -------
    number or array
        The mean's approximate MSE (18), divided by mu.

    Notes
    -----
    Source: PCKV equation (18).
    """
    return g(numbers) + h(numbers) * mean_square


def frequency_mse_approx(numbers: Numbers, n_users: Number) -> Number:
    """Approximate MSE of the frequency, l^2 h / n (PCKV equation (18))."""
    return numbers.padding**2 * h(numbers) / n_users


def mean_mse_approx(
    numbers: Numbers, frequency: Number, mean: Number, n_users: Number, *, longer: bool = False
) -> Number:
    """Approximate MSE of the mean.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l, with p != 1/2.
    frequency, mean, n_users : number or array
        f above 0, m and n.
    longer : bool, default False
        Keep the squared bias, as in the first of the two forms printed.

    Returns
    -------
    number or array
        mu (g + h m^2), or mu [g + (mu h + 1) h m^2].

    Notes
    -----
    Source: PCKV equation (18).
    """
    scale = mu(numbers.padding, frequency, n_users)
    key = h(numbers)
    extra = scale * key if longer else 0
    return scale * (g(numbers) + (extra + 1) * key * mean**2)


def frequency_quality(numbers: Numbers, frequency: Number, *, law: str = "printed") -> Number:
    """Divide the true variance of the frequency by its approximation (18); n cancels.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l.
    frequency : number or array
        f in [0, 1].
    law : {"printed", "fixed", "iid"}
        What counts as true: (9), or `frequency_variance` with that law.

    Returns
    -------
    number or array
        1 where (18) is perfect.

    Raises
    ------
    ValueError
        If `law` is unknown.
    """
    if _check.one_of("law", law, ("printed", *LAWS)) == "printed":
        true = frequency_variance_printed(numbers, frequency, 1)
    else:
        true = frequency_variance(numbers, frequency, 1, users=law)
    return true / frequency_mse_approx(numbers, 1)


def mean_quality(numbers: Numbers, frequency: Number, mean: Number) -> Number:
    """Divide the first-order variance (11) of the mean by its approximation (18); n cancels.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l, with p != 1/2.
    frequency, mean : number or array
        f above 0, and m.

    Returns
    -------
    number or array
        1 where (18) is perfect. It needs delta much smaller than b, not only than 1.
    """
    true = mean_variance_printed(numbers, frequency, mean, 1)
    return true / mean_mse_approx(numbers, frequency, mean, 1)


# --- the optimum of Lemmas 2 and 3, and who wins ---------------------------------------------


def ue_optimum(exp_epsilon: Number) -> tuple[Number, Number]:
    """Return g and h of PCKV-UE with the optimised allocation, simplified.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.

    Returns
    -------
    g, h : number or array
        8 (E + 1)^2 / ((E + 3) (E - 1)^2) and 8 (E + 1) / (E - 1)^2.

    Notes
    -----
    Source: PCKV equations (17) and (21).
    """
    top, gap = exp_epsilon + 1, exp_epsilon - 1
    return 8 * top**2 / ((exp_epsilon + 3) * gap**2), 8 * top / gap**2


def grr_optimum(exp_epsilon: Number, n_keys: Number, padding: Number) -> tuple[Number, Number]:
    """Return g and h of PCKV-GRR with the optimised allocation, simplified.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.
    n_keys, padding : int or array
        d and l.

    Returns
    -------
    g, h : number or array
        (2 L + 4 d') / L^2 and (2 L + 4 (d' - 1)) / L^2 with L = l (E - 1), d' = d + l.

    Notes
    -----
    Source: PCKV equations (17) and (24).
    """
    lift = padding * (exp_epsilon - 1)
    width = n_keys + padding
    return (2 * lift + 4 * width) / lift**2, (2 * lift + 4 * (width - 1)) / lift**2


def crossover(exp_epsilon: Number, padding: Number, mean_square: Number) -> Number:
    """Find the number of keys below which PCKV-GRR beats PCKV-UE in the mean, both optimised.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.
    padding : int or array
        l, the same for both.
    mean_square : number or array
        m^2 in [0, 1].

    Returns
    -------
    number or array
        (d_g + m^2 d_h) / (1 + m^2), where d_g = 2 l^2 (E + 1)^2 / (E + 3) - l (E - 1) / 2 - l and
        d_h is `crossover_frequency`. GRR is better iff d is smaller.

    Notes
    -----
    Source: derived from (18), so for f / l small; the paper's own inequality is lost.
    """
    low = (
        2 * padding**2 * (exp_epsilon + 1) ** 2 / (exp_epsilon + 3)
        - padding * (exp_epsilon - 1) / 2
        - padding
    )
    high = crossover_frequency(exp_epsilon, padding)
    return (low + mean_square * high) / (1 + mean_square)


def crossover_frequency(exp_epsilon: Number, padding: Number) -> Number:
    """Find the number of keys below which PCKV-GRR beats PCKV-UE in the frequency, both optimised.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.
    padding : int or array
        l, the same for both.

    Returns
    -------
    number or array
        l (4 l - 1) (E + 1) / 2 + 1. GRR is better iff d is smaller.

    Notes
    -----
    Source: derived from (18), so for f / l small; the paper's own inequality is lost.
    """
    return padding * (4 * padding - 1) * (exp_epsilon + 1) / 2 + 1


def upload_bits(n_keys: int, padding: int, rounds: int = 1) -> dict[str, float]:
    """Bits that a user sends.

    Parameters
    ----------
    n_keys, padding : int
        d and l.
    rounds : int, default 1
        Real rounds c of PrivKVM.

    Returns
    -------
    dict of str to float
        PCKV-UE: d' symbols of 3 kinds. PCKV-GRR: one of 2 d' symbols. PrivKVM and KVUE: an index
        and one of 3 states, in each round. User work is O(d') for PCKV-UE and O(1) for the
        others; server work O(n d') and O(n + d) a round.
    """
    width = n_keys + padding
    indexed = math.log2(3 * n_keys)
    return {
        "PCKV-UE": width * math.log2(3),
        "PCKV-GRR": math.log2(2 * width),
        "PrivKVM": rounds * indexed,
        "KVUE": indexed,
    }


def expected_nonzeros(numbers: Numbers, n_keys: Number) -> Number:
    """Return the expected number of non-zero entries of a PCKV-UE report, a + (d' - 1) b."""
    return numbers.keep_key + (n_keys + numbers.padding - 1) * numbers.fake_key


def ue_exact_exp_epsilon(exp_epsilon: Number, n_keys: int, padding: int) -> Number:
    """Privacy that optimised PCKV-UE really has, which is better than promised when d < l.

    With fewer keys than padding every user may sample a dummy, so padding does amplify.

    Parameters
    ----------
    exp_epsilon : number or array
        E that (21) was given.
    n_keys, padding : int
        d and l.

    Returns
    -------
    number or array
        1 + min(1, d / l) (E - 1).

    Notes
    -----
    Source: PCKV Theorem 2 with "tight" made precise; proved in the book (privacy of PCKV), and held
    to it by enumeration for small d and l.
    """
    return 1 + (exp_epsilon - 1) * min(n_keys, padding) / padding


# --- Lemmas 2 and 3: along the allocations that use up the budget ----------------------------


def largest_keep_sign(exp_key: Number, exp_epsilon: Number, padding: Number = 1) -> Number:
    """Largest p that a key budget leaves under (6); with padding 1, under (3).

    Parameters
    ----------
    exp_key : number or array
        theta in [1, l (E - 1) + 1), and above (l - 1) (E - 1) / 2.
    exp_epsilon : number or array
        E above 1.
    padding : int or array, default 1
        l; leave 1 for PCKV-UE.

    Returns
    -------
    number or array
        The smaller of E' / (2 theta), with E' = l (E - 1) + 1, which binds from
        theta = (E' + 1) / 2 on, and [1 + (E - 1) (theta + l - 1) / ((E + 1) theta)] / 2.

    Notes
    -----
    Source: PCKV Theorem 3, equation (6), solved for e^epsilon_2: its `min` makes two conditions.
    The first one is equation (4) at E'.
    """
    lifted = allocation.amplified(exp_epsilon, padding)
    across = lifted / (2 * exp_key)
    within = (exp_epsilon - 1) * (exp_key + padding - 1) / ((exp_epsilon + 1) * exp_key)
    return np.minimum(across, (1 + within) / 2)


def along_ue(exp_key: Number, exp_epsilon: Number, padding: Number = 1) -> Numbers:
    """PCKV-UE with a given key budget and all that it leaves for the value.

    Parameters
    ----------
    exp_key : number or array
        theta; the family (4) is theta in [(E + 1) / 2, E).
    exp_epsilon : number or array
        E above 1.
    padding : int or array, default 1
        l; does not change a, b, p.

    Returns
    -------
    Numbers
        With OUE keys (19).

    Notes
    -----
    Source: PCKV equations (4) and (19).
    """
    sign = largest_keep_sign(exp_key, exp_epsilon)
    return Numbers(exp_key / (exp_key + exp_key), 1 / (exp_key + 1), sign, padding)


def along_grr(exp_key: Number, exp_epsilon: Number, n_keys: Number, padding: Number = 1) -> Numbers:
    """PCKV-GRR with a given key budget and all that it leaves for the value.

    Parameters
    ----------
    exp_key, exp_epsilon : number or array
        theta and E, as in `largest_keep_sign`.
    n_keys, padding : int or array
        d and l.

    Returns
    -------
    Numbers
        On both branches of (6).

    Notes
    -----
    Source: PCKV Algorithm 3 and equation (6).
    """
    keep, fake = channels.grr_probabilities(exp_key, n_keys + padding)
    return Numbers(keep, fake, largest_keep_sign(exp_key, exp_epsilon, padding), padding)


def lemma2_mean_square(exp_epsilon: Number) -> Number:
    """Largest m^2 for which Lemma 2 is optimal.

    Proof. Along (4), g = 4 theta^2 / ((theta + 1) (E - theta)^2) rises and
    h = 4 theta / (theta - 1)^2 falls. g' + h' m^2 has the sign of
    theta (theta^2 + E theta + 2 E) (theta - 1)^3 - m^2 (theta + 1)^3 (E - theta)^3, which rises
    relative to its second part, so Lemma 2 holds iff it is not negative at
    theta = (E + 1) / 2, where E - theta = theta - 1.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.

    Returns
    -------
    number or array
        theta (3 theta^2 + 3 theta - 2) / (theta + 1)^3 at theta = (E + 1) / 2: 1/2 as epsilon
        tends to 0, rising; may exceed 1.

    Notes
    -----
    Source: PCKV Lemma 2, with the condition it needs.
    """
    theta = (exp_epsilon + 1) / 2
    return theta * (3 * theta**2 + 3 * theta - 2) / (theta + 1) ** 3


def lemma2_holds(exp_epsilon: Number, mean_square: Number) -> Any:
    """Whether Lemma 2's allocation minimises g + h m^2 along (4); see `lemma2_mean_square`.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.
    mean_square : number or array
        m^2 in [0, 1].

    Returns
    -------
    bool or array of bool
        Exact for `Fraction`.
    """
    return mean_square <= lemma2_mean_square(exp_epsilon)


def lemma2_threshold() -> tuple[float, float]:
    """Smallest budget from which Lemma 2 is optimal for every mean in [-1, 1].

    Returns
    -------
    exp_key, epsilon : float
        theta = 1.67298, the positive root of 2 theta^3 - 5 theta - 1 (`lemma2_mean_square` = 1),
        and epsilon = ln(2 theta - 1) = 0.8527.
    """
    theta = 2 * math.sqrt(5 / 6) * math.cos(math.acos(0.3 * math.sqrt(1.2)) / 3)
    return theta, math.log(2 * theta - 1)


def lemma2_best_key(exp_epsilon: Number, mean_square: Number) -> NDArray[np.float64]:
    """Key budget that really minimises g + h m^2 along (4).

    Parameters
    ----------
    exp_epsilon : float or array
        E above 1.
    mean_square : float or array
        m^2 in [0, 1].

    Returns
    -------
    ndarray of float64
        theta = e^epsilon_1 in [(E + 1) / 2, E), to rounding: (E + 1) / 2 where Lemma 2 holds, else
        the root of the polynomial in `lemma2_mean_square`.
    """
    top, square = np.broadcast_arrays(
        np.asarray(exp_epsilon, dtype=np.float64), np.asarray(mean_square, dtype=np.float64)
    )

    def slope(theta: NDArray[np.float64]) -> NDArray[np.float64]:
        rising = theta * (theta**2 + top * theta + 2 * top) * (theta - 1) ** 3
        return rising - square * ((theta + 1) * (top - theta)) ** 3

    return _root_or_left_end(slope, (top + 1) / 2, top)


def lemma2_loss(exp_epsilon: Number, mean_square: Number) -> NDArray[np.float64]:
    """How much larger g + h m^2 is at Lemma 2's allocation than at the best one on (4).

    Parameters
    ----------
    exp_epsilon : float or array
        E above 1.
    mean_square : float or array
        m^2 in [0, 1].

    Returns
    -------
    ndarray of float64
        Relative excess, at least 0. For m^2 > 1/2 it tends to 4 (1 + r^3) / (1 + r)^3 - 1 with
        r^3 = 2 m^2 as epsilon tends to 0: at most 12 / (1 + 2^(1/3))^3 - 1 = 3.97 %.
    """
    best = along_ue(lemma2_best_key(exp_epsilon, mean_square), exp_epsilon)
    used = along_ue((exp_epsilon + 1) / 2, exp_epsilon)
    excess = objective(used, mean_square) / objective(best, mean_square) - 1
    return np.where(lemma2_holds(exp_epsilon, mean_square), 0.0, excess)


def unary_numbers(
    keep_key: Number, exp_key: Number, exp_value: Number, padding: Number = 1
) -> Numbers:
    """PCKV-UE with another a at the same two budgets.

    Parameters
    ----------
    keep_key : number or array
        a in (0, 1); 1/2 gives OUE keys, theta / (1 + theta) gives b = 1/2.
    exp_key, exp_value : number or array
        theta = e^epsilon_1 above 1, and e^epsilon_2.
    padding : int or array, default 1
        l.

    Returns
    -------
    Numbers
        b = a / (a + theta (1 - a)).

    Notes
    -----
    Source: PCKV Algorithm 2 (epsilon_1 = ln[a (1 - b) / (b (1 - a))]).
    """
    fake = keep_key / (keep_key + exp_key * (1 - keep_key))
    return Numbers(keep_key, fake, exp_value / (exp_value + 1), padding)


def best_keep_key(exp_key: Number, exp_value: Number, mean_square: Number) -> NDArray[np.float64]:
    """Find the a that minimises g + h m^2 at fixed budgets, within b <= 1/2.

    With D(a) = a (theta - (theta - 1) a), g = 1 / (D (2 p - 1)^2) and
    h = theta / ((theta - 1)^2 a (1 - a)): both convex, h least at a = 1/2 (OUE), g beyond it.

    Parameters
    ----------
    exp_key, exp_value : float or array
        theta and e^epsilon_2, above 1.
    mean_square : float or array
        m^2 in [0, 1].

    Returns
    -------
    ndarray of float64
        a in (1/2, theta / (1 + theta)], to rounding.

    Notes
    -----
    Source: PCKV Algorithm 2 and equation (18); the paper takes a = 1/2, equation (19).
    """
    theta, value, square = np.broadcast_arrays(
        *(np.asarray(x, dtype=np.float64) for x in (exp_key, exp_value, mean_square))
    )
    sign = ((value + 1) / (value - 1)) ** 2
    key = square * theta / (theta - 1) ** 2

    def slope(a: NDArray[np.float64]) -> NDArray[np.float64]:
        rest = theta - (theta - 1) * a
        falling = sign * (theta - 2 * (theta - 1) * a) * (1 - a) ** 2
        return key * (2 * a - 1) * rest**2 - falling

    return _root_or_left_end(slope, np.full(theta.shape, 0.5), theta / (1 + theta))


def _root_or_left_end(
    slope: Any, low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.float64]:
    # Minimum of a function that falls, then rises, by bisection on its slope's sign: the left
    # end if it only rises, the right end if it only falls. 60 halvings reach float resolution.
    start = low
    for _ in range(60):
        middle = (low + high) / 2
        rises = slope(middle) >= 0
        low, high = np.where(rises, low, middle), np.where(rises, middle, high)
    return np.where(slope(start) >= 0, start, (low + high) / 2)


def lemma3_slope(
    exp_epsilon: Number, n_keys: Number, padding: Number, mean_square: Number
) -> Number:
    """Slope of g + h m^2 in theta, to the right of Lemma 3's allocation.

    On that branch g = (theta + d' - 1) / (E' - theta)^2 and h = (theta + d' - 2) / (theta - 1)^2
    are convex, so a positive slope at its left end makes the end its minimum.

    Parameters
    ----------
    exp_epsilon : number or array
        E above 1.
    n_keys, padding : int or array
        d and l.
    mean_square : number or array
        m^2 in [0, 1].

    Returns
    -------
    number or array
        With t = (E' - 1) / 2: (1 + m^2) / t^2 + 2 [(t + d') - m^2 (t + d' - 1)] / t^3, positive.

    Notes
    -----
    Source: PCKV Lemma 3 (its proof is lost; this one is derived).
    """
    half = padding * (exp_epsilon - 1) / 2
    width = n_keys + padding
    second = half + width - mean_square * (half + width - 1)
    return (1 + mean_square) / half**2 + 2 * second / half**3


def lemma3_left_slopes(
    exp_key: Number, exp_epsilon: Number, n_keys: Number, padding: Number
) -> tuple[Number, Number]:
    """Slopes of g and h in theta, to the left of Lemma 3's allocation.

    There g = (E + 1)^2 (theta + d' - 1) / ((E - 1)^2 (theta + l - 1)^2).

    Parameters
    ----------
    exp_key : number or array
        theta in (1, (l (E - 1) + 2) / 2].
    exp_epsilon : number or array
        E above 1.
    n_keys, padding : int or array
        d and l.

    Returns
    -------
    g_slope, h_slope : number or array
        Both negative, since d' >= l + 1: less key budget makes both errors larger.

    Notes
    -----
    Source: PCKV Lemma 3 (its proof is lost; this one is derived).
    """
    width = n_keys + padding
    scale = ((exp_epsilon + 1) / (exp_epsilon - 1)) ** 2
    g_slope = scale * (padding + 1 - 2 * width - exp_key) / (exp_key + padding - 1) ** 3
    return g_slope, (3 - 2 * width - exp_key) / (exp_key - 1) ** 3


# --- PrivKVM ---------------------------------------------------------------------------------


def privkvm_weight(frequency: Number, exp_key: Number) -> Number:
    """Share of true values among the values that PrivKVM's first round collects for a key.

    Parameters
    ----------
    frequency : number or array
        f in [0, 1].
    exp_key : number or array
        e^epsilon_1 of the round; 1 in later rounds, where the share is f.

    Returns
    -------
    number or array
        rho = f p_1 / (f p_1 + (1 - f) (1 - p_1)) with p_1 = e^epsilon_1 / (e^epsilon_1 + 1).

    Notes
    -----
    Source: derived from PCKV section 4.2.
    """
    return frequency * exp_key / (frequency * exp_key + 1 - frequency)


def privkvm_expected_mean(
    frequency: Number, mean: Number, exp_key: Number, rounds: Number
) -> Number:
    """Return the expected mean after PrivKVM's c rounds, to first order and without clipping.

    A round replaces the running mean M by rho m + (1 - rho) M, from M = 0.

    Parameters
    ----------
    frequency, mean : number or array
        f and m.
    exp_key : number or array
        e^epsilon_1 of the first round, e^(epsilon / 2).
    rounds : int or array
        c, at least 1.

    Returns
    -------
    number or array
        m [1 - (1 - rho) (1 - f)^(c - 1)]; the bias vanishes only as c grows.

    Notes
    -----
    Source: derived from PCKV section 4.2, limitation (1).
    """
    missing = (1 - privkvm_weight(frequency, exp_key)) * (1 - frequency) ** (rounds - 1)
    return mean * (1 - missing)


def privkvm_variance_factor(epsilon: Number, rounds: Number) -> Number:
    """Factor by which one round's value perturbation inflates a mean's variance.

    Parameters
    ----------
    epsilon : float or array
        Total budget in nats.
    rounds : int or array
        c, at least 1; the value budget of a round is epsilon / (2 c).

    Returns
    -------
    float or array
        (2 p_2 - 1)^-2 = coth^2(epsilon / (4 c)), about (4 c / epsilon)^2 for many rounds.

    Notes
    -----
    Source: derived from PCKV section 4.2, limitation (1).
    """
    return np.tanh(epsilon / (4 * rounds)) ** -2.0


def privkvm_epsilon(epsilon: Number, rounds: Number) -> Number:
    """Privacy of PrivKVM's c rounds, with the first one composed tightly.

    The paper sums epsilon / 2 + c epsilon / (2 c) = epsilon. But the first round's fake value is
    0, that is a fair sign, so (3) holds for it.

    Parameters
    ----------
    epsilon : float or array
        Total budget claimed, in nats.
    rounds : int or array
        c, at least 1.

    Returns
    -------
    float or array
        epsilon - [epsilon / (2 c) - ln(2 / (1 + e^(-epsilon / (2 c))))], below epsilon. Exact for
        one round. For more, a bound that is reached when the mean broadcast is -1 or 1, so that a
        holder and a non-holder differ most in every round.

    Notes
    -----
    Source: PCKV section 5.2 ("No tight budget composition for PrivKVM"), corrected.
    """
    value = epsilon / (2 * rounds)
    return epsilon - value + np.log(2 / (1 + np.exp(-value)))


def unreported_share(n_keys: Number, n_users: Number) -> Number:
    """Return the expected share of keys that nobody samples when users draw a key from the domain.

    Parameters
    ----------
    n_keys, n_users : int or array
        d and n.

    Returns
    -------
    number or array
        (1 - 1 / d)^n; about e^-2 = 0.135 at n = 2 d.

    Notes
    -----
    Source: PCKV section 4.2, limitation (2), made quantitative.
    """
    return ((n_keys - 1) / n_keys) ** n_users


# --- exact errors of the clipped estimators --------------------------------------------------


class ExactErrors(NamedTuple):
    """Exact bias and mean squared error of one key's estimates.

    Parameters
    ----------
    frequency_bias, frequency_mse, mean_bias, mean_mse : float
        About the population's f and m.
    undefined : float
        Probability that the mean is undefined (only without correction, where the estimated
        frequency is exactly 0); such outcomes are left out of the mean's figures.
    """

    frequency_bias: float
    frequency_mse: float
    mean_bias: float
    mean_mse: float
    undefined: float


def exact_errors(
    numbers: Numbers,
    frequency: float,
    mean: float,
    n_users: int,
    *,
    correction: str = "paper",
    points: int = 1 << 21,
) -> ExactErrors:
    """Exact errors of the estimates for iid users, clipping included, without simulation.

    The counts (n_1, n_2) are trinomial (see `moments_iid`), so the estimator of
    `ldpkv.estimation` is run on every pair of counts whose sum and difference lie within 9
    standard deviations, and 30, of their expectations, and averaged.

    Parameters
    ----------
    numbers : Numbers
        a, b, p, l; single numbers.
    frequency, mean : float
        f in [0, 1] and m in [-1, 1], with no user holding more than l pairs.
    n_users : int
        n, at least 1.
    correction : {"paper", "code", "none"}
        As in `ldpkv.estimation.estimate_pckv`.
    points : int, default 2^21
        About how many pairs of counts are visited at most. Where there are more, every sum is
        still visited but only every s-th difference, s odd.

    Returns
    -------
    ExactErrors
        To about 1e-9 relative where all counts are visited. With s > 1 the frequency's errors stay
        as accurate; the mean's are off by up to about 1e-4 at n = 1e6 and epsilon = 0.1 (tests
        compare with s = 1). Without correction the errors of the mean are those of a ratio whose
        denominator may come near 0: they mean something only where `signal` is large.

    Raises
    ------
    ValueError, TypeError
        If `correction` is unknown or `n_users` is not an integer of at least 1.

    Notes
    -----
    Source: PCKV equations (7), (8) and Algorithm 4, in its two clipping variants.
    """
    _check.one_of("correction", correction, CORRECTIONS)
    n_users = _check.integer("n_users", n_users, minimum=1)
    a, b, p = (float(number) for number in numbers[:3])
    moments = moments_iid(Numbers(a, b, p, numbers.padding), frequency, mean, n_users)
    sums = _window(0, moments.support, moments.support_variance, n_users)
    differences = _window(-n_users, moments.difference, moments.difference_variance, n_users)
    step = max(1, len(sums) * len(differences) // (2 * points)) | 1
    # Sum and difference have one parity. Odd multiples of an odd step for odd sums, even ones for
    # even sums: the lattice is symmetric about 0, where a clipped mean can jump from -1 to 1, so
    # the errors of the coarser rule cancel there.
    half = np.arange(differences[0] // (2 * step), differences[-1] // (2 * step) + 1)
    difference = step * (2 * half + sums[:, None] % 2)
    total = np.broadcast_to(sums[:, None], difference.shape)
    inside = np.abs(difference) <= total
    table = np.stack([total + difference, total - difference], axis=-1)[inside] // 2
    weight = np.exp(
        gammaln(n_users + 1)
        + _log_term(table[:, 0], (moments.support + moments.difference) / 2)
        + _log_term(table[:, 1], (moments.support - moments.difference) / 2)
        + _log_term(n_users - table.sum(axis=1), 1 - moments.support)
    )
    weight /= weight.sum()
    estimates = estimate_pckv(
        Counts(table, np.full(len(table), n_users)),
        keep_key=a,
        fake_key=b,
        keep_sign=p,
        padding=numbers.padding,
        n_keys=len(table),
        correction=correction,
    )
    defined = np.isfinite(estimates.mean)
    kept = float(weight[defined].sum())
    frequency_error = estimates.frequency - frequency
    mean_error = estimates.mean[defined] - mean
    return ExactErrors(
        float(weight @ frequency_error),
        float(weight @ frequency_error**2),
        float(weight[defined] @ mean_error) / kept,
        float(weight[defined] @ mean_error**2) / kept,
        float(weight[~defined].sum()),
    )


def _window(lowest: int, share: float, variance: float, n_users: int) -> NDArray[np.int64]:
    # Counts from `lowest` to n near their expectation; share and variance are of the count over n.
    reach = 9 * n_users * math.sqrt(max(0.0, variance)) + 30
    low = max(lowest, math.floor(n_users * share - reach))
    return np.arange(low, min(n_users, math.ceil(n_users * share + reach)) + 1)


def _log_term(counts: NDArray[np.int64], chance: float) -> NDArray[np.float64]:
    # log(chance^count / count!); an impossible outcome gets -inf.
    return xlogy(counts, max(0.0, chance)) - gammaln(counts + 1.0)
