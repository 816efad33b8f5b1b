"""Surrogates: published marginals met, laws as stated, and every deviation told."""

import itertools
import math

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statistical import (
    assert_plausible,
    assert_rejected,
    binomial_tail,
    goodness_of_fit,
)

from ldpkv import data as ldata
from ldpkv import surrogates as sur
from ldpkv.data import KeyValueData

SMALL = {
    "amazon_beauty": {"n_users": 2_000},
    "movielens20m": {"n_users": 200},
    "talkingdata": {"n_users": 500},
    "jdata": {"n_users": 500},
    "jdata_categories": {"n_users": 500},
    "gauss": {"n_users": 500},
    "lnr": {"n_users": 500},
}


def make(name, rng=2020, **changes):
    return getattr(sur, name)(rng=rng, **{**SMALL[name], **changes})


def law_of(counts):
    return counts / counts.sum()


def real(name, **options):
    try:
        return ldata.load(name, **options)
    except ldata.MissingDataError as error:
        pytest.skip(f"{name} is not at hand: {str(error).splitlines()[0]}")


def published(name, statistic):
    return sur.published(name)[statistic].value


# --- what every surrogate promises ----------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_says_that_it_is_a_surrogate_and_what_it_assumes(name):
    data = make(name)
    assert data.name == data.provenance["name"] == f"{name}_surrogate"
    assert data.provenance["is_surrogate"] is True and data.provenance["is_real"] is False
    assert data.provenance["surrogate_of"] == name and data.provenance["sha256"] is None
    assert data.provenance["sources"] and all(data.provenance["sources"])
    assumptions = data.provenance["assumptions"]
    assert len(assumptions) >= 4 and len(set(assumptions)) == len(assumptions)
    assert all(isinstance(words, str) and len(words) > 20 for words in assumptions)
    assert data.provenance["parameters"]["n_users"] == SMALL[name]["n_users"]
    assert data.lengths.min() >= 1  # the container itself checks distinct, ascending keys


@pytest.mark.parametrize("name", SMALL)
def test_same_seed_same_data(name):
    data = make(name)
    assert data.digest() == make(name, rng=np.random.default_rng(2020)).digest()
    assert data.digest() != make(name, rng=2021).digest()


def test_number_of_workers_does_not_matter():
    work = list(itertools.product(SMALL, range(3)))
    one, four = (
        joblib.Parallel(n_jobs=workers, prefer="threads")(
            joblib.delayed(lambda name, seed: make(name, rng=seed).digest())(*task) for task in work
        )
        for workers in (1, 4)
    )
    assert one == four


def test_registry_names_the_surrogates():
    for name, entry in ldata.registry().items():
        if entry["surrogate"]:
            assert entry["content"] != "pairs" or make(name).name == entry["surrogate"]


SWITCHES = [
    ("amazon_beauty", {"longest_by_hand": False}),
    ("amazon_beauty", {"key_share": 0}),
    ("movielens20m", {"key_share": 0}),
    ("talkingdata", {"value_law": "independent"}),
    ("talkingdata", {"length_slope": 0.5}),
    ("talkingdata", {"value_spread": 0.1}),
    ("talkingdata", {"exponent": 0.5}),
    ("talkingdata", {"mean_length": 15.0}),
    ("jdata", {"mean_length": 5.0}),
    ("jdata", {"length_shape": 2.0}),
    ("jdata_categories", {"activity_share": 0.5}),
    ("gauss", {"mean_length": 5.0}),
    ("gauss", {"key_scale": 20.0}),
    ("lnr", {"value_spread": 0.5}),
]


@pytest.mark.parametrize(("name", "switch"), SWITCHES)
def test_a_switched_assumption_is_told(name, switch):
    before, after = make(name), make(name, **switch)
    assert before.provenance["assumptions"] != after.provenance["assumptions"]
    for parameter, value in switch.items():
        assert after.provenance["parameters"][parameter] == value


# --- laws of lengths ------------------------------------------------------------------------------


def test_beauty_lengths_are_solved_from_two_published_numbers():
    n, pairs = published("amazon_beauty", "users"), published("amazon_beauty", "pairs")
    share = published("amazon_beauty", "users with one pair") / n
    exponent, rate = sur.fit_power_cutoff(share, pairs / n)
    assert (round(exponent, 3), round(rate, 4)) == (2.294, 0.0584)
    law = sur.power_cutoff_law(exponent, rate)
    assert law[0] == pytest.approx(share, rel=1e-10)
    assert law @ np.arange(1, law.size + 1) == pytest.approx(pairs / n, rel=1e-10)
    assert [1 + int(np.searchsorted(law.cumsum(), p)) for p in (0.9, 0.98, 0.99)] == [3, 7, 10]


@given(st.floats(0, 3), st.floats(0.01, 2))
def test_fitting_a_law_gives_back_its_parameters(exponent, rate):
    law = sur.power_cutoff_law(exponent, rate, longest=2_000)
    mean = float(law @ np.arange(1, law.size + 1))
    found = sur.fit_power_cutoff(float(law[0]), mean, longest=2_000)
    np.testing.assert_allclose(found, (exponent, rate), rtol=1e-5, atol=1e-6)


def test_power_law_is_the_formula():
    weights = [(x + 0.5) ** -1.5 * math.exp(-0.1 * x) for x in range(1, 8)]
    found = sur.power_cutoff_law(1.5, 0.1, shift=0.5, longest=7)
    np.testing.assert_allclose(found, np.array(weights) / sum(weights), rtol=1e-13)


def test_the_family_of_lengths_fits_clothing():
    # The same family, from P(1) and the mean alone, on a set whose lengths are known.
    lengths = real("clothing", duplicates="keep").lengths
    truth = law_of(np.bincount(lengths, minlength=20_001)[1:])
    exponent, rate = sur.fit_power_cutoff(float(truth[0]), float(lengths.mean()))
    assert (round(exponent, 3), round(rate, 3)) == (1.947, 0.106)
    law = sur.power_cutoff_law(exponent, rate)
    assert 0.5 * np.abs(law - truth).sum() < 0.013
    for probability, place in ((0.98, 8), (0.99, 11)):
        assert np.searchsorted(law.cumsum(), probability) + 1 == place
        assert np.percentile(lengths, 100 * probability) == place
    # A law with only the mean right, the geometric one, is much farther off.
    geometric = stats.geom.pmf(np.arange(1, law.size + 1), 1 / lengths.mean())
    assert 0.5 * np.abs(geometric - truth).sum() > 0.1


def test_gamma_lengths_of_talkingdata_meet_both_published_numbers():
    shape = sur._gamma_shape(21.1, 0.98, 306)
    law = sur._gamma_law(21.1, shape, 306)
    assert law @ np.arange(1, 307) == pytest.approx(21.1, rel=1e-9)
    assert law[:49].sum() == pytest.approx(0.98, rel=1e-9)
    lengths = make("talkingdata", n_users=20_000).lengths
    counts = np.bincount(lengths, minlength=307)[1:]
    assert_plausible(goodness_of_fit(counts, law), "lengths")
    poisson = stats.poisson.pmf(np.arange(1, 307), 21.1)
    assert_rejected(goodness_of_fit(counts, law_of(poisson)), "Poisson lengths")


@pytest.mark.parametrize("mean", [3.6, 11.5, 36.7])
def test_jdata_lengths_have_the_mean_asked_for(mean):
    law = sur._gamma_law(mean, 1.0, 442)
    assert law @ np.arange(1, 443) == pytest.approx(mean, rel=1e-9)
    lengths = make("jdata", n_users=20_000, mean_length=mean).lengths
    counts = np.bincount(lengths, minlength=443)[1:]
    assert_plausible(goodness_of_fit(counts, law), "lengths")
    assert_rejected(goodness_of_fit(counts, sur._gamma_law(1.25 * mean, 1.0, 442)), "longer lists")


@pytest.mark.parametrize("name", ["gauss", "lnr"])
def test_lengths_of_the_synthetic_sets_are_poisson(name):
    counts = np.bincount(make(name, n_users=30_000).lengths, minlength=101)
    law = stats.poisson.pmf(np.arange(101), 10)
    law[0] = 0
    assert_plausible(goodness_of_fit(counts, law_of(law)), "lengths")
    more = stats.poisson.pmf(np.arange(101), 10.5)
    more[0] = 0
    assert_rejected(goodness_of_fit(counts, law_of(more)), "a rate of 10.5")


# --- the calibrated marginals ---------------------------------------------------------------------


def test_beauty_marginals_are_the_published_ones():
    lengths, items = sur._beauty_lengths(True), sur._beauty_items()
    assert lengths.size == 1_210_271 and items.size == 249_274
    assert lengths.sum() == items.sum() == 2_023_070
    assert (lengths == 1).sum() == 887_401 and lengths.min() == 1
    assert np.sort(lengths)[-5:].tolist() == [276, 278, 326, 336, 389]
    assert (items == 1).sum() == 103_484 and items.min() == 1
    assert items[:6].tolist() == [7_533, 2_869, 2_477, 2_143, 2_088, 2_041]
    assert (np.diff(items) <= 0).all()
    # The fitted law itself foresees these places, the very largest item apart.
    exponent, shift, rate = sur._beauty_item_law()
    foreseen = sur._at_middles(sur.power_cutoff_law(exponent, rate, shift=shift), items.size)
    np.testing.assert_allclose(foreseen[::-1][1:6], items[1:6], rtol=0.07)


def test_beauty_without_its_longest_users():
    lengths = sur._beauty_lengths(False)
    assert lengths.sum() == 2_023_070 and (lengths == 1).sum() == 887_401
    assert 100 <= lengths.max() < 120


def test_movielens_marginals_are_the_published_ones():
    lengths, items = sur._movielens_lengths(), sur._movielens_items()
    assert lengths.size == 138_493 and items.size == 26_744
    assert lengths.sum() == items.sum() == 20_000_263
    for what, numbers in (("length", lengths), ("item", items)):
        for label, percent in (
            ("min", 0),
            ("p25", 25),
            ("median", 50),
            ("p75", 75),
            ("p90", 90),
            ("p95", 95),
            ("p99", 99),
            ("max", 100),
        ):
            stated = published("movielens20m", f"{what} {label}")
            assert np.percentile(numbers, percent) == pytest.approx(stated, rel=2e-3)
    # Published as well, but not used: how well the interpolation does where it was not held.
    assert lengths.std() == pytest.approx(published("movielens20m", "length sd"), rel=0.02)
    assert items.std() == pytest.approx(published("movielens20m", "item sd"), rel=0.07)
    assert sur._gini(np.sort(lengths)) == pytest.approx(0.581, abs=0.012)
    assert sur._gini(np.sort(items)) == pytest.approx(0.903, abs=0.002)


@pytest.mark.parametrize(("name", "n_users"), [("amazon_beauty", 50_000), ("movielens20m", 5_000)])
def test_fewer_users_are_a_sample_of_the_full_set(name, n_users):
    lengths, items = (
        (sur._beauty_lengths(True), sur._beauty_items())
        if name == "amazon_beauty"
        else (sur._movielens_lengths(), sur._movielens_items())
    )
    data = make(name, n_users=n_users)
    assert data.n_users == n_users and data.n_keys == items.size
    law = law_of(np.bincount(lengths))
    counts = np.bincount(data.lengths, minlength=law.size)
    # Drawing without replacement varies less than the chi-square allows for.
    assert_plausible(goodness_of_fit(counts, law), "lengths")
    doubled = law_of(np.bincount(2 * lengths))
    mixed = 0.2 * doubled[: law.size] + 0.8 * law
    assert_rejected(goodness_of_fit(counts, law_of(mixed)), "one list in five doubled")

    # Keys in 40 groups of equal popularity; a swapped repeat moves a pair to a rarer key, and at
    # full size the marginals are exact, so look at the users for whom repeats are rare.
    group = np.minimum((40 * np.cumsum(items) / items.sum()).astype(int), 39)
    short = np.repeat(data.lengths <= 25, data.lengths)
    counts = np.bincount(group[data.keys[short]], minlength=40)
    law = np.bincount(group, weights=items, minlength=40) / items.sum()
    assert_plausible(goodness_of_fit(counts, law), "keys")
    squared = np.bincount(group, weights=items**1.1, minlength=40)
    assert_rejected(goodness_of_fit(counts, law_of(squared)), "popularity to the power 1.1")


def test_share_keeps_that_share_of_the_users():
    assert make("movielens20m", n_users=300, share=0.1).n_users == 30
    assert make("movielens20m", n_users=3, share=0.01).n_users == 1
    assert make("amazon_beauty", n_users=1).n_users == 1


def tables():
    """0/1 tables of users by keys, not too full: their margins can be met."""
    cells = st.lists(st.booleans(), min_size=6, max_size=6).filter(lambda row: 1 <= sum(row) <= 3)
    return st.lists(cells, min_size=2, max_size=8)


@given(tables(), st.integers(0, 1000))
def test_dealing_meets_both_margins(rows, seed):
    table = np.array(rows)
    # Three users more, one pair each, leave room to swap.
    table = np.vstack([table, np.eye(6, dtype=bool)])
    items, lengths = table.sum(axis=0), table.sum(axis=1)
    indptr = np.r_[0, np.cumsum(lengths)]
    keys = sur._deal_keys(items, indptr, np.random.default_rng(seed))
    assert np.bincount(keys, minlength=6).tolist() == items.tolist()
    for start, stop in itertools.pairwise(indptr):
        assert (np.diff(keys[start:stop]) > 0).all()
    # With some places left over, still distinct, and no key beyond its number.
    part = sur._deal_keys(items, indptr[:-2], np.random.default_rng(seed))
    assert part.size == indptr[-3]
    assert (np.bincount(part, minlength=6) <= items).all()


def test_dealing_that_cannot_work_is_told(monkeypatch):
    monkeypatch.setattr(sur, "_MOST_TRIES", 1_000)
    with pytest.raises(RuntimeError, match="holds one twice"):
        sur._deal_keys(np.array([2]), np.array([0, 2]), np.random.default_rng(1))


# --- values ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key_share", [0, 0.3, 1])
@pytest.mark.parametrize("name", ["amazon_beauty", "movielens20m"])
def test_ratings_follow_the_histogram_to_within_one(name, key_share):
    data = make(name, key_share=key_share)
    entry = ldata.registry()[name]
    low, high = entry["scale"]
    levels = (2 * np.array(entry["levels"]) - low - high) / (high - low)
    assert set(np.unique(data.values)) <= set(levels)
    if key_share == 1:
        return  # all ratings of a key are one: the histogram can only be met key by key
    found = np.searchsorted(np.unique(levels), data.values)
    counts = np.bincount(found, minlength=levels.size)
    wanted = np.array(entry["counts"]) * data.n_pairs / entry["n_rows"]
    assert np.abs(counts - wanted).max() <= 1


def test_levels_of_a_handful_of_pairs():
    levels, counts = np.array([-1.0, 0.0, 1.0]), np.array([1, 1, 2])
    for n_pairs, expected in ((4, [1, 1, 2]), (8, [2, 2, 4]), (1, [0, 0, 1])):
        keys = np.zeros(n_pairs, dtype=np.int32)
        values = sur._deal_values(keys, 1, levels, counts, 0.0, np.random.default_rng(5))
        found = [int((values == level).sum()) for level in levels]
        assert sum(found) == n_pairs
        if n_pairs > 1:
            assert found == expected


def test_values_depend_on_the_key_only_if_asked():
    def p_value(key_share):
        data = make("movielens20m", n_users=2_000, key_share=key_share)
        top = data.keys < 20
        table = np.zeros((20, 10))
        np.add.at(table, (data.keys[top], np.rint(4.5 * data.values[top] + 4.5).astype(int)), 1)
        table = np.column_stack([table[:, :6].sum(axis=1), table[:, 6], table[:, 7:].sum(axis=1)])
        assert table.min() >= 25
        return stats.chi2_contingency(table, correction=False).pvalue

    assert_plausible(p_value(0), "independent values")
    assert_rejected(p_value(0.22), "values by key")


def test_values_of_the_stand_ins():
    independent = make("talkingdata", value_law="independent")
    assert_plausible(stats.kstest(independent.values, stats.uniform(-1, 2).cdf).pvalue)
    by_key = make("talkingdata")
    assert_rejected(stats.kstest(by_key.values, stats.uniform(-1, 2).cdf).pvalue)
    one = make("talkingdata", value_spread=0)
    for key in range(5):
        assert np.unique(one.values[one.keys == key]).size == 1
    assert np.abs(by_key.values).max() <= 1


def test_length_slope_moves_the_values_of_long_lists():
    def gap(slope):
        data = make("talkingdata", n_users=2_000, value_law="independent", length_slope=slope)
        lengths = np.repeat(data.lengths, data.lengths)
        long = lengths > np.median(data.lengths)
        test = stats.ttest_ind(data.values[long], data.values[~long], equal_var=False)
        return test.pvalue, data.values[long].mean() - data.values[~long].mean()

    assert_plausible(gap(0.0)[0], "no slope")
    for slope in (0.4, -0.4):
        p_value, difference = gap(slope)
        assert_rejected(p_value, f"slope {slope}")
        assert difference == pytest.approx(slope, abs=0.1)


def test_values_of_the_synthetic_sets():
    data = make("lnr", n_users=2_000)
    np.testing.assert_array_equal(data.values, np.linspace(-1, 1, 100)[data.keys])
    assert make("lnr", n_keys=1, mean_length=1).values.tolist() == [0.0] * 500
    gauss = make("gauss", n_users=2_000)
    for key in range(10):
        assert np.unique(gauss.values[gauss.keys == key]).size == 1
    spread = make("gauss", n_users=2_000, value_spread=0.5)
    assert np.unique(spread.values).size > 100 and np.abs(spread.values).max() <= 1


# --- keys of the stand-ins ------------------------------------------------------------------------


def test_first_keys_follow_the_weights():
    linear = np.arange(1.0, 101)
    normal = np.diff(stats.norm.cdf(np.arange(101) / 50))
    for name, weights, wrong in (("lnr", linear, normal), ("gauss", normal, linear)):
        data = make(name, n_users=30_000, mean_length=1e-9)
        assert (data.lengths == 1).all()
        counts = np.bincount(data.keys, minlength=100)
        assert_plausible(goodness_of_fit(counts, law_of(weights)), name)
        assert_rejected(goodness_of_fit(counts, law_of(wrong)), name)


def test_two_keys_follow_successive_draws_without_replacement():
    weights = law_of(np.arange(1, 6) ** -1.0)
    n = 30_000
    indptr = np.arange(0, 2 * n + 1, 2)
    keys = sur._race(indptr, weights, np.random.default_rng(2020)).reshape(n, 2)
    pairs = list(itertools.combinations(range(5), 2))
    counts = np.array([np.sum((keys == pair).all(axis=1)) for pair in pairs])
    assert counts.sum() == n
    w = weights
    law = np.array([w[i] * w[j] / (1 - w[i]) + w[i] * w[j] / (1 - w[j]) for i, j in pairs])
    assert law.sum() == pytest.approx(1)
    assert_plausible(goodness_of_fit(counts, law), "successive draws")
    product = np.array([w[i] * w[j] for i, j in pairs])
    assert_rejected(goodness_of_fit(counts, law_of(product)), "independent draws, no repeats")


def test_whoever_holds_all_keys_holds_all():
    weights = law_of(np.arange(1, 8) ** -3.0)
    keys = sur._race(np.array([0, 7, 14]), weights, np.random.default_rng(1))
    assert keys.tolist() == [*range(7), *range(7)]


# --- JData's categories ---------------------------------------------------------------------------


def test_categories_have_exactly_the_published_holders():
    data = sur.jdata_categories(rng=2020)
    counts = np.bincount(data.keys)
    assert data.key_labels == tuple(range(4, 12)) and data.n_users == 105_180
    for label, count in zip(data.key_labels, counts, strict=True):
        assert count == published("jdata_categories", f"key {label} holders")
    table = sur.compare_with_published("jdata_categories", data)
    assert (table.difference.drop("length mean") == 0).all()
    assert abs(table.difference["length mean"]) < 0.005  # published to two decimals


def overlap_p_value(data):
    """p-value of how many hold both of the first two categories, given how many hold each."""
    held = np.zeros((data.n_users, 8), dtype=bool)
    held[np.repeat(np.arange(data.n_users), data.lengths), data.keys] = True
    one, two = held[:, 0].sum(), held[:, 1].sum()
    law = stats.hypergeom(data.n_users, one, two)
    both = (held[:, 0] & held[:, 1]).sum()
    return 2 * min(law.cdf(both), law.sf(both - 1))


def test_categories_are_independent_unless_activity_ties_them():
    assert_plausible(overlap_p_value(make("jdata_categories", n_users=20_000)))
    assert_rejected(overlap_p_value(make("jdata_categories", n_users=20_000, activity_share=0.1)))
    nested = make("jdata_categories", n_users=2_000, activity_share=1)
    # All but those given a category by hand hold the most common one.
    assert binomial_tail((nested.lengths == 8).sum(), 2_000, 14_446 / 105_180) > 1e-9
    assert nested.lengths.min() == 1


# --- tables ---------------------------------------------------------------------------------------


def test_marginals_of_a_small_example():
    sets = [{0: 1.0}, {0: 1.0, 2: -1.0}, {0: -1.0, 1: 1.0, 2: 1.0}, {0: 1.0}]
    data = KeyValueData.from_sets(sets, n_keys=5, provenance={"scale": (0.0, 10.0)})
    found = sur.marginals(data)
    expected = {
        "users": 4,
        "keys": 5,
        "keys held": 3,
        "pairs": 7,
        "density": 7 / 20,
        "users with one pair": 2,
        "items with one user": 1,
        "length mean": 7 / 4,
        "length min": 1,
        "length max": 3,
        "length 2nd largest": 2,
        "length median": 1.5,
        "length share of 1": 0.5,
        "length share below 50": 1,
        "length sd": np.std([1, 2, 3, 1]),
        "item mean": 7 / 3,
        "item max": 4,
        "item median": 2,
        "item 2nd largest": 2,
        "value mean": 3 / 7,
        "value 0 share": 2 / 7,
        "value 10 share": 5 / 7,
        "key 0 holders": 4,
        "key 3 holders": 0,
    }
    for statistic, value in expected.items():
        assert found[statistic] == pytest.approx(value), statistic
    assert "item 4th largest" not in found.index


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12))
def test_gini_is_half_the_relative_mean_difference(numbers):
    x = np.sort(np.array(numbers, dtype=float))
    by_pairs = np.abs(x[:, None] - x[None, :]).mean() / (2 * x.mean())
    assert sur._gini(x) == pytest.approx(by_pairs, abs=1e-12)


def test_deviation_table_of_a_hand_made_example():
    data = KeyValueData.from_sets([{0: 1.0}, {0: 1.0, 1: -1.0}, {1: 0.5, 2: 1.0, 3: 1.0}], n_keys=4)
    table = sur.compare_with_published("talkingdata_surrogate", data)
    assert table.loc["users", ["published", "generated", "difference"]].tolist() == [
        60_822,
        3,
        -60_819,
    ]
    assert table.relative["users"] == pytest.approx(3 / 60_822 - 1)
    assert table.difference["density"] == pytest.approx(6 / 12 - 0.069)
    assert table.generated["length share below 50"] == 1
    assert all(table.source)
    # A rating that never occurs has share 0; a statistic that the data lack is not made up.
    table = sur.compare_with_published("amazon_beauty", data)
    assert table.generated["value 5 share"] == 0
    assert math.isnan(table.generated["item 6th largest"])
    assert list(table.columns) == ["published", "generated", "difference", "relative", "source"]


@pytest.mark.parametrize("name", ["clothing", "ecommerce"])
def test_the_real_sets_agree_with_what_is_published_of_them(name):
    data = real(name, **({"duplicates": "keep"} if name == "clothing" else {}))
    table = sur.compare_with_published(name, data).drop("pairs" if name == "clothing" else [])
    assert (table.relative.abs() < 2e-3).all(), table


def test_published_numbers_are_consistent():
    for name in sur.PUBLISHED:
        for statistic, entry in sur.published(name).items():
            assert np.isfinite(entry.value) and entry.source, (name, statistic)
    for name in ("amazon_beauty", "movielens20m"):
        known = {s: entry.value for s, entry in sur.published(name).items()}
        assert known["length mean"] == pytest.approx(known["pairs"] / known["users"], rel=1e-4)
        assert known["item mean"] == pytest.approx(known["pairs"] / known["keys"], rel=1e-4)
        density = known["pairs"] / (known["users"] * known["keys"])
        assert known["density"] == pytest.approx(density, rel=1e-2)
        shares = [v for s, v in known.items() if s.startswith("value ") and s.endswith("share")]
        assert sum(shares) == pytest.approx(1)
    with pytest.raises(TypeError):
        sur.PUBLISHED["amazon_beauty"] = {}


# --- audit scores ---------------------------------------------------------------------------------


def test_canary_scores_are_two_normals_with_the_published_moments():
    scores = sur.canary_scores(rng=2020)
    assert scores.name == "canary_scores_surrogate" and scores.provenance["is_surrogate"] is True
    assert scores.included.shape == scores.excluded.shape == (10_000,)
    right = {"included": (0.0826, 0.0708), "excluded": (0.0002, 0.0606)}
    for side, other in (("included", "excluded"), ("excluded", "included")):
        sample = getattr(scores, side)
        assert not sample.flags.writeable
        assert_plausible(stats.kstest(sample, stats.norm(*right[side]).cdf).pvalue, side)
        swapped = stats.norm(right[side][0], right[other][1])
        assert_rejected(stats.kstest(sample, swapped.cdf).pvalue, f"{side}, other spread")
    again = sur.canary_scores(rng=2020)
    np.testing.assert_array_equal(scores.included, again.included)
    assert not np.array_equal(scores.included, sur.canary_scores(rng=1).included)


@pytest.mark.parametrize(("file", "side"), [("in", "included"), ("out", "excluded")])
def test_published_moments_are_those_of_the_files(file, side):
    try:
        scores = ldata.load_scores(f"canary_scores_{file}")
    except ldata.MissingDataError as error:
        pytest.skip(f"the scores are not at hand: {str(error).splitlines()[0]}")
    # As printed, rounded or cut to four decimals.
    assert abs(scores.mean() - published("canary_scores", f"{side} mean")) < 1e-4
    assert abs(scores.std() - published("canary_scores", f"{side} sd")) < 1e-4


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: sur.amazon_beauty(rng=1, n_users=0), ValueError, "n_users"),
        (lambda: sur.amazon_beauty(rng=1, n_users=1_210_272), ValueError, "at most 1210271"),
        (lambda: sur.amazon_beauty(rng=1, n_users=2.5), TypeError, "n_users"),
        (lambda: sur.amazon_beauty(rng=1, n_users=9, key_share=1.1), ValueError, "key_share"),
        (lambda: sur.movielens20m(rng=1, n_users=138_494), ValueError, "n_users"),
        (lambda: sur.movielens20m(rng=1, n_users=9, share=0), ValueError, "share"),
        (lambda: sur.movielens20m(rng=1, n_users=9, share=1.5), ValueError, "share"),
        (lambda: make("talkingdata", mean_length=0.5), ValueError, "mean_length"),
        (lambda: make("talkingdata", mean_length=300.0), ValueError, "no gamma law"),
        (lambda: make("talkingdata", share_below_50=0.01), ValueError, "no gamma law"),
        (lambda: make("talkingdata", exponent=-1), ValueError, "exponent"),
        (lambda: make("talkingdata", value_law="guess"), ValueError, "value_law"),
        (lambda: make("talkingdata", value_spread=2), ValueError, "value_spread"),
        (lambda: make("talkingdata", length_slope=-2), ValueError, "length_slope"),
        (lambda: make("jdata", mean_length=3.5), ValueError, r"\[3.6, 36.7\]"),
        (lambda: make("jdata", mean_length=37), ValueError, r"\[3.6, 36.7\]"),
        (lambda: make("jdata", n_keys=3), ValueError, "no gamma law"),
        (lambda: make("jdata", length_shape=0), ValueError, "length_shape"),
        (lambda: make("jdata_categories", activity_share=2), ValueError, "activity_share"),
        (lambda: make("gauss", mean_length=0), ValueError, "mean_length"),
        (lambda: make("gauss", mean_length=101), ValueError, "mean_length"),
        (lambda: make("gauss", key_scale=1), ValueError, "key_scale"),
        (lambda: make("lnr", n_keys=0), ValueError, "n_keys"),
        (lambda: make("lnr", value_spread=math.nan), ValueError, "value_spread"),
        (lambda: sur.canary_scores(rng=1, n=0), ValueError, "n must be"),
        (lambda: sur.fit_power_cutoff(0, 2), ValueError, "share_of_one"),
        (lambda: sur.fit_power_cutoff(0.5, 1.5), ValueError, "above 2 - share_of_one"),
        (lambda: sur.fit_power_cutoff(0.9, 5_000), ValueError, "no law of this family"),
        (lambda: sur.power_cutoff_law(1, -1), ValueError, "rate"),
        (lambda: sur.power_cutoff_law(1, 1, shift=-1), ValueError, "shift"),
        (lambda: sur.published("nothing"), ValueError, "amazon_beauty"),
        (lambda: sur.compare_with_published("nothing", make("lnr")), ValueError, "name"),
        (
            lambda: sur.marginals(KeyValueData.from_sets([{}], n_keys=2, allow_empty=True)),
            ValueError,
            "at least one pair",
        ),
    ],
)
def test_bad_input_is_told(call, error, words):
    with pytest.raises(error, match=words):
        call()
