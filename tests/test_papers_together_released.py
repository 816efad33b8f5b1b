"""Released libraries: stored results, exact laws, the locks, and judges that can say no."""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import json
import math
import re
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import audit_peers
import numpy as np
import pytest
import sync_env
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from scipy import stats

from ldpkv.papers import plots
from ldpkv.papers.evidence import DIFFERS, Result
from ldpkv.papers.together import released as page

ROOT = Path(__file__).resolve().parent.parent
CLAIMS = {claim.id: claim for claim in page.CLAIMS}
RAW = json.loads((ROOT / "data" / "peers.json").read_text(encoding="utf-8"))


@functools.cache
def computed(run) -> Result:
    return run("quick")


# --- the locks ------------------------------------------------------------------------------------

NAMES = sorted(audit_peers.LOCKS)


def pins(name: str) -> dict[str, str]:
    """Package to version, as locked."""
    text = (ROOT / f"{name}.lock").read_text(encoding="utf-8")
    found = [Requirement(line) for line in sync_env.pins(text)]
    names = [canonicalize_name(pin.name) for pin in found]
    assert len(names) == len(set(names)), f"{name}.lock has forked"
    return {canonicalize_name(p.name): next(iter(p.specifier)).version for p in found}


def wanted(name: str) -> list[Requirement]:
    lines = (ROOT / f"{name}.in").read_text(encoding="utf-8").splitlines()
    plain = [line.split("#")[0].strip() for line in lines]
    return [Requirement(line) for line in plain if line]


@pytest.mark.parametrize("name", NAMES)
def test_the_locks_satisfy_their_sources(name: str) -> None:
    locked = pins(name)
    for requirement in wanted(name):
        version = locked.get(canonicalize_name(requirement.name))
        assert version, f"{requirement.name} is not in {name}.lock: run `make peers-lock`"
        assert requirement.specifier.contains(version), f"{requirement}: run `make peers-lock`"


@pytest.mark.parametrize("name", NAMES)
def test_the_locks_hold_only_pins_and_hashes(name: str) -> None:
    text = (ROOT / f"{name}.lock").read_text(encoding="utf-8")
    for line in text.splitlines():
        assert re.match(r"[a-z0-9][a-z0-9._-]*==|    --hash=sha256:|    #", line), line
    for block in re.split(r"\n(?=[a-z0-9])", text):
        assert "--hash=sha256:" in block, f"no hash: {block.splitlines()[0]}"
    assert "://" not in text


def test_the_audited_releases_are_pinned_locked_named_and_measured() -> None:
    first, alone = (pins(name) for name in audit_peers.LOCKS)
    locked = {**first, "jax-privacy": alone["jax-privacy"]}
    assert {name: locked[name] for name in audit_peers.AUDITED} == dict(page.VERSIONS)
    assert RAW["audited"] == dict(page.VERSIONS), "run `make peers`"
    assert alone["pure-ldp"] == page.BEFORE
    for name, version in RAW["beside"].items():
        assert locked[name] == version, f"{name}: run `make peers`"
    exact = [r for name in NAMES for r in wanted(name) if str(r.specifier).startswith("==")]
    assert {canonicalize_name(r.name) for r in exact} == set(audit_peers.AUDITED)


def test_what_the_auditor_imports_is_locked() -> None:
    modules = {
        node.module.split(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name
        for path in [*(ROOT / "ldpkv").glob("*.py"), *(ROOT / "ldpkv/auditing").glob("*.py")]
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.Import)
        or (isinstance(node, ast.ImportFrom) and node.module and not node.level)
    }
    third = {m.split(".")[0] for m in modules} - set(sys.stdlib_module_names) - {"ldpkv"}
    assert third <= set(pins("requirements-peers")), third


def test_the_main_environment_never_imports_them() -> None:
    modules = "pure_ldp|multi_freq_ldpy|opendp|diffprivlib|jax_privacy"
    statement = re.compile(rf"^\s*(?:import|from)\s+(?:{modules})\b", re.M)
    assert statement.search("x = 1\n    import opendp.prelude as dp")
    for path in [*(ROOT / "ldpkv").rglob("*.py"), *(ROOT / "tests").glob("*.py")]:
        assert not statement.search(path.read_text(encoding="utf-8")), path
    main = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    mine = {canonicalize_name(Requirement(line).name) for line in sync_env.pins(main)}
    assert not mine & set(audit_peers.AUDITED)
    # The tool takes them in inside its functions only, so that it starts in any environment.
    assert not set(modules.split("|")) & {name.split(".")[0] for name in sys.modules}


# --- the stored file ------------------------------------------------------------------------------


def test_the_stored_cases_are_those_of_the_tool() -> None:
    cases = audit_peers.all_cases()
    stored = {row["id"]: row for row in RAW["cases"]}
    assert [case.id for case in cases] == [row["id"] for row in RAW["cases"]], "run `make peers`"
    for case in cases:
        row = stored[case.id]
        kept = {name: row[name] for name in ("setup", "call", "score", "claim", "seed", "pairs")}
        assert kept == {name: getattr(case, name) for name in kept}, f"{case.id}: run `make peers`"
        assert tuple(row["inputs"]) == case.inputs
        assert row["version"] == (case.alone or page.VERSIONS[case.library])
    assert set(stored) >= page.REJECTED
    assert RAW["level"] == audit_peers.LEVEL
    assert len(cases) * audit_peers.LEVEL <= page.FALSE_ALARM


def test_every_library_of_the_list_has_cases() -> None:
    libraries = {row["library"] for row in RAW["cases"]}
    assert libraries == {*page.LOCAL, *page.CENTRAL}
    assert {row["version"] for row in RAW["bounds"]} == {page.VERSIONS["jax-privacy"]}
    assert {row["library"] for row in RAW["installs"]} == set(page.VERSIONS)


def test_seeds_are_stated_or_impossible() -> None:
    for case in audit_peers.all_cases():
        assert (case.seed is None) == (case.library == "opendp"), case.id
    seeds = [case.seed for case in audit_peers.all_cases() if case.seed is not None]
    assert len(seeds) == len(set(seeds))


def test_the_file_is_dated_and_small() -> None:
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", RAW["made"])
    assert (ROOT / "data" / "peers.json").stat().st_size < 200_000
    for result in (computed(page.local), computed(page.counts), computed(page.auditors)):
        assert RAW["made"] in result.setting


def test_stored_outcomes_are_possible() -> None:
    for row in RAW["cases"]:
        for name in ("rejected_at", "half_rejected_at"):
            assert row[name] is None or 1 <= row[name] <= row["pairs"], row["id"]
        # A claim that is too small is too large when halved; at epsilon = 0 delta is halved.
        if row["rejected_at"] is not None:
            assert row["half_rejected_at"] <= row["rejected_at"] * 1.5, row["id"]
        assert row["epsilon_low"] >= 0
    for row in RAW["counts"]:
        assert 0 <= row["hits"] <= row["trials"]


def broken_file(change) -> dict:
    raw = copy.deepcopy(RAW)
    change(raw)
    return raw


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda raw: raw.pop("made"), "lacks made"),
        (lambda raw: raw.pop("cases"), "lacks cases"),
        (lambda raw: raw["cases"][0].pop("seed"), "cases entry 'pure-ldp-de' lacks seed"),
        (lambda raw: raw["counts"][0].pop("hits"), "counts entry .* lacks hits"),
        (lambda raw: raw["cases"].append(raw["cases"][0]), "cases holds pure-ldp-de twice"),
    ],
)
def test_incomplete_files_are_refused(change, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        page.checked(broken_file(change))


def test_other_files_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="must hold an object, got list"):
        page.checked([])
    monkeypatch.setattr(page.ldpkv, "__file__", str(tmp_path / "ldpkv" / "__init__.py"))
    with pytest.raises(FileNotFoundError, match="`make peers` makes them"):
        page.stored.__wrapped__()
    (tmp_path / "ldpkv").mkdir()
    (tmp_path / "ldpkv" / "peers.json").write_text(json.dumps(RAW), encoding="utf-8")
    assert page.stored.__wrapped__()["made"] == RAW["made"]


# --- exact laws -----------------------------------------------------------------------------------


def test_laws_are_laws() -> None:
    laws = [page.sampled_law([0, 1], 3, Fraction(3)), page.sampled_law([0, 0, 1], 2, Fraction(2))]
    laws += [page.subset_law(2, 2, 5, Fraction(3), ordered=flag) for flag in (True, False)]
    for law in laws:
        assert sum(law.values()) == 1 and min(law.values()) > 0


@pytest.mark.parametrize(("size", "n_values"), [(1, 3), (2, 4), (2, 6), (3, 6)])
def test_subset_selection_leaks_by_its_order_only(size: int, n_values: int) -> None:
    e = Fraction(5, 2)
    sets = [page.subset_law(v, size, n_values, e, ordered=False) for v in (0, 1)]
    assert page.worst_epsilon(*sets) == pytest.approx(math.log(e))
    arrays = [page.subset_law(v, size, n_values, e, ordered=True) for v in (0, 1)]
    leak = page.worst_epsilon(*arrays)
    assert math.isinf(leak) if size > 1 else leak == pytest.approx(math.log(e))


@pytest.mark.parametrize("d", [2, 3])
def test_rsfd_by_hand(d: int) -> None:
    e = Fraction(2)
    for m in range(1, d + 1):
        first, second = [0] * d, [1] * m + [0] * (d - m)
        ratio = page.worst_epsilon(page.sampled_law(first, 2, e), page.sampled_law(second, 2, e))
        assert ratio == pytest.approx(math.log(1 + m))
    # The report that shows it: agrees with the first tuple where they differ, with neither else.
    law = page.sampled_law([0, 0], 3, e)
    assert law[0, 0] / page.sampled_law([1, 1], 3, e)[0, 0] == 1 + 2 * (e - 1)
    assert law[0, 2] / page.sampled_law([1, 0], 3, e)[0, 2] == e


def test_unary_encoding_by_enumeration() -> None:
    """Closed form against all reports of three bits."""

    def law(own: int, keep: float, fake: float) -> dict:
        return {
            bits: math.prod(
                (p if bit else 1 - p)
                for i, bit in enumerate(bits)
                for p in [keep if i == own else fake]
            )
            for bits in itertools.product((0, 1), repeat=3)
        }

    for optimised, old in ((False, 1.3695), (True, 1.2944)):
        for make, expected in ((page.unary_now, 0.5), (page.unary_before, old)):
            keep, fake = make(0.5, optimised=optimised)
            exact = page.worst_epsilon(law(0, keep, fake), law(1, keep, fake))
            assert exact == pytest.approx(page.unary_epsilon(keep, fake))
            assert exact == pytest.approx(expected, rel=1e-3)


def test_worst_epsilon() -> None:
    assert page.worst_epsilon({0: 0.5, 1: 0.5}, {0: 0.25, 1: 0.75}) == pytest.approx(math.log(2))
    assert page.worst_epsilon({0: 1.0}, {0: 0.5, 1: 0.5}) == math.inf
    assert page.worst_epsilon({0: 1.0}, {0: 1.0}) == 0


def test_threshold_law_by_summation() -> None:
    decay = math.exp(-1)
    tail = sum((1 - decay) / (1 + decay) * decay**k for k in range(4, 200))
    assert page._source_laws()["opendp-laplace-threshold"] == pytest.approx(tail)
    # The map's number is the same sum without the threshold itself.
    row = next(r for r in RAW["counts"] if r["id"] == "opendp-laplace-threshold")
    assert row["claimed"] == pytest.approx(tail * decay, rel=1e-4)


def test_counts_by_other_means() -> None:
    table = computed(page.counts).table.set_index("id")
    row = table.loc["pure-ldp-hm-list"]
    n, k = int(row["trials"]), int(row["hits"])
    assert row["low"] == pytest.approx(stats.beta.ppf(0.025, k, n - k + 1))
    assert row["high"] == pytest.approx(stats.beta.ppf(0.975, k + 1, n - k))
    z = (k - n * row["source"]) / math.sqrt(n * row["source"] * (1 - row["source"]))
    assert row["p_source"] == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.03)
    assert page._p_value(3, 10, None) != page._p_value(3, 10, None)


def test_divergence_bound_is_the_smallest_over_the_rectangle() -> None:
    found = computed(page.counts).facts["renyi"]
    known = computed(page.counts).table.set_index("id")
    ends = [
        stats.binomtest(int(row.hits), int(row.trials)).proportion_ci(0.975, method="exact")
        for row in (known.loc[f"opendp-noisy-max-zcdp-{i}"] for i in (0, 1))
    ]
    p, q = np.meshgrid(*(np.linspace(end.low, end.high, 60) for end in ends))
    forward = np.log(p**2 / q + (1 - p) ** 2 / (1 - q)).min()
    backward = np.log(q**2 / p + (1 - q) ** 2 / (1 - p)).min()
    assert found["low"] == pytest.approx(max(forward, backward), rel=1e-6)
    assert found["before"] == pytest.approx(1.376, abs=1e-3)


# --- the tool's own statistics --------------------------------------------------------------------


def test_lower_bounds_hold_and_come_close(rng: np.random.Generator) -> None:
    """Randomised response at a known epsilon; each bound errs with probability 0.05 at most."""
    p = math.e / (1 + math.e)
    found = []
    for _ in range(200):
        x, y = ((rng.random(4000) < chance).astype(float) for chance in (p, 1 - p))
        found.append(audit_peers.lower_bound(x, y, 0.0, discrete=True))
    # 33 or more of 200 at rate 0.05: probability below 1e-9.
    assert sum(value > 1 for value in found) < 33
    assert 0.8 < np.median(found) < 1
    x, y = rng.normal(size=4000), 1 + rng.normal(size=4000)
    assert audit_peers.lower_bound(x, y, 0.0, discrete=False) > 1
    assert audit_peers.lower_bound(x, x, 0.0, discrete=False) == 0
    # All of the difference within delta.
    assert audit_peers.lower_bound(x, y, 0.9, discrete=False) == 0


def test_the_audit_catches_a_planted_defect_and_keeps_a_true_claim(
    rng: np.random.Generator,
) -> None:
    case = audit_peers.Case("t", "opendp", "t", "", "", ("", ""), "", pairs=4000, seeded=False)
    p = math.e / (1 + math.e)
    x, y = ((rng.random(4000) < chance).astype(float) for chance in (p, 1 - p))
    kept = audit_peers.audit(case, {"epsilon": 1.0, "delta": 0.0, "x": x, "y": y})
    assert kept["rejected_at"] is None and kept["half_rejected_at"] is not None
    defect = audit_peers.audit(case, {"epsilon": 0.5, "delta": 0.0, "x": x, "y": y})
    assert defect["rejected_at"] == kept["half_rejected_at"]


def test_scores() -> None:
    assert audit_peers.bits([1, 0, 1]) == 5 and audit_peers.bits(np.array([0.0, 1.0])) == 1
    ratio = audit_peers.llr([0.3, -0.2], 2.0)
    densities = [stats.laplace(scale=2), stats.laplace(1, scale=2)]
    expected = densities[1].logpdf(0.3) - densities[0].logpdf(0.3)
    expected += densities[0].logpdf(-0.2) - densities[1].logpdf(-0.2)
    assert ratio == pytest.approx(expected)
    # Rounded: saturated ratios are equal, whatever the lowest bits of the report.
    report = [1.1 + 2.0**-53, 0.1 - 1.3]
    assert audit_peers.llr(report, 2.0) == audit_peers.llr([1.2, -5.0], 2.0) == 1.0


def test_one_plus_noise_has_no_bits_below_two_to_the_minus_53(rng: np.random.Generator) -> None:
    noise = rng.laplace(size=100_000)
    assert ((1 + noise) * 2.0**53 == np.floor((1 + noise) * 2.0**53)).all()
    assert (noise * 2.0**53 != np.floor(noise * 2.0**53)).any()


# --- judges ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", CLAIMS, ids=str)
def test_claims_have_their_recorded_verdict(id: str) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    evidence = claim.judge(result)
    assert evidence.verdict == claim.recorded["quick", result.source]
    assert evidence.false_alarm <= page.FALSE_ALARM


def facts(**changes):
    return lambda old: {**old, **changes}


def within(name: str, key: str, value):
    return lambda old: {**old, name: {**old[name], key: value}}


BROKEN = [
    ("local", facts(unexpected=["pure-ldp-de"])),
    ("local", facts(lost=["pure-ldp-rappor"])),
    ("central", facts(unexpected=["opendp-laplace"])),
    ("low-bits", facts(unexpected=["diffprivlib-snapping-low-bits"])),
    ("rappor", within("hits", "pure-ldp-rappor-cleared", 1)),
    ("rappor", within("rejected", "pure-ldp-rappor", None)),
    ("rappor", within("p_claimed", "pure-ldp-rappor-cleared", 0.3)),
    ("unary", within("p_source", "pure-ldp-new-oue-own-bit", 1e-9)),
    ("unary", within("p_claimed", "pure-ldp-old-oue-own-bit", 0.5)),
    ("unary", within("rejected", "pure-ldp-new-sue", 100)),
    ("hadamard", within("hits", "pure-ldp-hm-mixed", 1)),
    ("hadamard", within("rejected", "pure-ldp-hm-type", None)),
    ("subset", within("hits", "multi-freq-ss-later", 1)),
    ("subset", facts(subset_array=1.0)),
    ("subset", within("rejected", "multi-freq-ss", 50)),
    ("rsfd", facts(equal=1)),
    ("rsfd", facts(one=[None, None, 900])),
    ("rsfd", facts(both=[None, 2, 3])),
    ("threshold", facts(threshold=(0.001, 0.005))),
    ("threshold", within("p_source", "opendp-laplace-threshold", 1e-9)),
    ("noisy-max", within("renyi", "low", 2.0)),
    ("noisy-max", within("p_source", "opendp-noisy-max-zcdp-1", 1e-9)),
    ("conversion", facts(rounded=False)),
    ("conversion", facts(no_noise=[])),
    ("gdp", within("p_value", "epsilon_from_gdp", 0.5)),
    ("gdp", within("p_value", "epsilon_one_run", 1e-9)),
    ("installs", within("fails", "diffprivlib", [])),
    ("installs", facts(fails_added=[])),
    ("seeds", facts(seeds=[{"call": "c", "numpy_seed": True, "numba_seed": True}])),
    ("seeds", facts(seeds=[])),
    ("power", facts(local=1)),
    ("power", facts(caught=10)),
]


@pytest.mark.parametrize(
    ("id", "change"), BROKEN, ids=[f"{i}-{n}" for n, (i, _) in enumerate(BROKEN)]
)
def test_judges_can_say_no(id: str, change) -> None:
    claim = CLAIMS["together-released-" + id]
    result = computed(claim.run)
    worse = replace(result, facts=change(dict(result.facts)))
    assert claim.judge(worse).verdict == DIFFERS != claim.judge(result).verdict


@pytest.mark.parametrize("id", CLAIMS, ids=str)
def test_other_releases_are_not_what_was_claimed(id: str) -> None:
    result = computed(CLAIMS[id].run)
    other = replace(result, facts={**result.facts, "versions": False})
    assert CLAIMS[id].judge(other).verdict == DIFFERS


def test_every_judge_is_broken_once() -> None:
    assert {"together-released-" + id for id, _ in BROKEN} == set(CLAIMS)


def changed_file(monkeypatch: pytest.MonkeyPatch, change) -> None:
    raw = broken_file(change)
    monkeypatch.setattr(page, "stored", lambda: raw)


def test_a_changed_file_changes_the_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    def repaired(raw: dict) -> None:
        raw["audited"]["opendp"] = "0.17.0"
        for row in raw["cases"]:
            if row["id"] in ("pure-ldp-rappor", "multi-freq-rsfd-grr"):
                row["rejected_at"] = None
        for row in raw["counts"]:
            if row["id"] == "pure-ldp-rappor-cleared":
                row["hits"] = round(row["claimed"] * row["trials"])
        for row in raw["bounds"]:
            row["above_zero"] = 10

    changed_file(monkeypatch, repaired)
    for name, run in (
        ("local", page.local),
        ("rappor", page.counts),
        ("threshold", page.counts),
        ("rsfd", page.differing),
        ("gdp", page.auditors),
    ):
        claim = CLAIMS["together-released-" + name]
        assert claim.judge(run("quick")).verdict == DIFFERS, name
    kept = CLAIMS["together-released-conversion"]
    assert kept.judge(page.conversions("quick")).verdict != DIFFERS


def test_a_new_rejection_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def worse(raw: dict) -> None:
        next(row for row in raw["cases"] if row["id"] == "opendp-laplace")["rejected_at"] = 50

    changed_file(monkeypatch, worse)
    result = page.central("quick")
    assert result.facts["unexpected"] == ["opendp-laplace"]
    assert CLAIMS["together-released-central"].judge(result).verdict == DIFFERS


def test_unknown_profile_and_library() -> None:
    for run in {claim.run for claim in CLAIMS.values()}:
        with pytest.raises(ValueError, match="profile must be one of"):
            run("qick")
    with pytest.raises(ValueError, match=r"library must be one of .* got 'opendp'"):
        page.outcomes_table(computed(page.local), "opendp")


def test_tables_and_figure() -> None:
    local, central = computed(page.local), computed(page.central)
    shown = 0
    for result, libraries in ((local, page.LOCAL), (central, page.CENTRAL)):
        for library in libraries:
            table = page.outcomes_table(result, library)
            assert table.shape[1] == 6
            assert len(page.full_table(result, library)) == len(table)
            shown += len(table)
    assert shown + len(computed(page.low_bits).table) == len(RAW["cases"])
    for table in (
        page.counts_table(computed(page.counts)),
        page.conversions_table(computed(page.conversions)),
        page.differing_table(computed(page.differing)),
        page.auditors_table(computed(page.auditors)),
        page.installs_table(computed(page.installs)),
    ):
        assert len(table) and table.shape[1] <= 7
    figure = page.draw_bounds(page.bounds(local, central))
    marks = sum(len(line.get_xdata()) for line in figure.axes[0].get_lines()) - 2
    assert marks == sum((r.table["epsilon"] > 0).sum() for r in (local, central))
    assert set(page._SHORT) == {*local.facts["rejected"], *central.facts["rejected"]}
    plots.plt.close(figure)
    numbers = page.numbers(local, central, computed(page.counts), computed(page.auditors))
    assert numbers.pop("released_made") == RAW["made"]
    assert all(math.isfinite(value) for value in numbers.values())


def test_both_profiles_read_the_same_results() -> None:
    assert page.local("quick").table.equals(page.local("paper").table)
    assert len(page.differing("paper").facts["both"]) == 3
    assert page.differing("paper").facts["cases"] > page.differing("quick").facts["cases"]
