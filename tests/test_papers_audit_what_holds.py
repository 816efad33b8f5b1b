"""The page on what holds: verdicts, judges that can say no, planted defects."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statistical import assert_plausible, assert_rejected, binomial_tail

from ldpkv.auditing import boundaries
from ldpkv.auditing.apt import APT, NOT_REJECTED, path, run_many
from ldpkv.papers import evidence, plots
from ldpkv.papers.audit import what_holds as page
from ldpkv.papers.audit.curves import fluid_samples, rows_of_the_paper
from ldpkv.papers.audit.sequential import exact_rejection
from ldpkv.tradeoff import GaussianDP, LaplaceDP, PureDP

CLAIMS = {claim.id: claim for claim in page.CLAIMS}
NULLS = {null.name: null for null in page.nulls()}
LAPLACE = "Laplace μ = 1, own curve"


@functools.cache
def computed(run) -> evidence.Result:
    return run("quick")


@pytest.mark.parametrize("id", CLAIMS)
def test_recorded_verdict(id: str) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    found = claim.judge(result)
    assert found.verdict == claim.recorded[result.profile, result.source]
    json.dumps(asdict(found))
    assert claim.page == page.PAGE and claim.paper == "audit" and id.startswith("audit-level-")
    assert set(claim.recorded.values()) <= set(evidence.VERDICTS)
    assert claim.statement.endswith(".")


# Judges can say no.


def rates(hits: float, *options: str, strong: bool | None = None):
    """Rejection rate of black-box audits overwritten, in 2,000 runs."""

    def change(result: evidence.Result) -> evidence.Result:
        table = result.table.copy()
        chosen = table["option"].isin(options) & ~table["fixed"]
        if strong is not None:
            chosen &= table["strong"] == strong
        count = round(2_000 * hits)
        low, high = page.interval(count, 2_000)
        p = float(stats.binom.sf(count - 1, 2_000, page.LEVEL))
        new = {"runs": 2_000, "rejected": count, "rate": hits, "low": low, "high": high, "p": p}
        for name, value in new.items():
            table.loc[chosen, name] = value
        return replace(result, table=table)

    return change


def fact(**broken):
    return lambda result: replace(result, facts={**result.facts, **broken})


def frame(name: str, **columns):
    """A DataFrame among the facts with columns overwritten."""

    def change(result: evidence.Result) -> evidence.Result:
        return replace(result, facts={**result.facts, name: result.facts[name].assign(**columns)})

    return change


BROKEN = [
    ("audit-level-printed", fact(first_look={page.PRINTED: 0.02, page.CORRECTED: 0.001})),
    ("audit-level-published", rates(0.04, page.PUBLISHED)),
    ("audit-level-corrected", rates(0.04, page.CORRECTED)),
    ("audit-level-signed", rates(0.04, page.SIGNED)),
    ("audit-level-predictable", rates(0.02, page.PREDICTABLE, page.PREDICTABLE_SIGNED)),
    ("audit-level-predictable", rates(0.05, page.PREDICTABLE, page.PREDICTABLE_SIGNED)),
    ("audit-level-unscored", rates(0.09, page.SOUND, strong=False)),
    ("audit-level-unscored", rates(0.09, page.UNSCORED, strong=False)),
    ("audit-level-strong", rates(0.1, page.SOUND, strong=True)),
    ("audit-level-strong", rates(0.02, page.SOUND, page.UNSCORED, strong=True)),
    ("audit-level-line", rates(0.02, page.LINE)),
    ("audit-level-line", rates(0.05, page.LINE)),
    ("audit-level-rescoring", frame("changes", gained=5, lost=5)),
    ("audit-level-rescoring", frame("changes", gained=50, lost=0, p=1e-12)),
    ("audit-level-sign", frame("changes", gained=5, lost=5)),
    ("audit-level-sign", frame("changes", gained=0, lost=50, p=1e-12)),
    ("audit-level-other-claims", rates(0.09, page.SOUND, strong=False)),
    ("audit-level-fig-6", frame("apart", p=0.5)),
    ("audit-level-fig-6", frame("apart", published=0.0)),
    ("audit-level-two-files", fact(z=[5.0, 2.0])),
    ("audit-level-floor", fact(floor_p=1e-7)),
    ("audit-level-small-burn-in", fact(t=[-9.0, -9.0, -9.0, 0.0])),
    ("audit-level-small-burn-in", fact(t=[-9.0, -9.0, -9.0, 9.0])),
    ("audit-level-corner", fact(table_1=[1.5])),
    ("audit-level-corner", fact(figure_5=[3.5])),
]


@pytest.mark.parametrize(
    ("id", "change"), BROKEN, ids=[f"{i}-{n}" for n, (i, _) in enumerate(BROKEN)]
)
def test_judges_can_say_no(id: str, change) -> None:
    claim = CLAIMS[id]
    result = computed(claim.run)
    assert claim.judge(change(result)).verdict != claim.judge(result).verdict


def test_every_judge_is_broken_once() -> None:
    assert {id for id, _ in BROKEN} == set(CLAIMS)


def test_a_reused_burn_in_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted defect: the sound option re-scores its pairs. Its level is then judged as broken."""
    right = page.settings

    def wrong(option: str, *rest) -> APT:
        return right(page.SIGNED if option == page.SOUND else option, *rest)

    chosen = [NULLS[LAPLACE], NULLS["fixed test, μ = 3, α = 0.001"]]
    monkeypatch.setattr(page, "nulls", lambda: chosen)
    monkeypatch.setattr(page, "_runs", lambda p, n, o: 200 if o == page.SOUND else 1)
    judge = CLAIMS["audit-level-unscored"].judge
    assert judge(page.levels("quick")).verdict == "within error"
    monkeypatch.setattr(page, "settings", wrong)
    assert judge(page.levels("quick")).verdict == "differs"


# Options.


def test_options_are_what_they_are_called() -> None:
    claim = GaussianDP(1.0)
    used = {option: page.settings(option, claim) for option in page.OPTIONS}
    assert used[page.PUBLISHED] == APT.published(claim)
    assert used[page.SOUND] == APT(claim, critical_value=used[page.SOUND].q())
    # The default's own value is for 10,000 scored pairs and takes a second to compute.
    assert used[page.SOUND].q() == pytest.approx(APT(claim).q(), abs=1e-4)
    # One thing changes at a time.
    for before, after, fields in (
        (page.PUBLISHED, page.CORRECTED, {"side"}),
        (page.CORRECTED, page.SIGNED, {"tuning"}),
        (page.CORRECTED, page.PREDICTABLE, {"scoring"}),
        (page.SIGNED, page.PREDICTABLE_SIGNED, {"scoring"}),
        (page.UNSCORED, page.SOUND, {"tuning"}),
        (page.SOUND, page.LINE, {"decision", "critical_value"}),
    ):
        one, two = dataclasses.asdict(used[before]), dataclasses.asdict(used[after])
        assert {name for name in one if one[name] != two[name]} == fields
    assert used[page.PREDICTABLE_SIGNED].scoring == "predictable"
    assert used[page.SIGNED].tuning.signed and not used[page.CORRECTED].tuning.signed
    printed = used[page.PRINTED]
    assert isinstance(printed, page.AsPrinted) and printed.side == "corrected"
    assert printed.q() > boundaries.critical_value(0.025)  # in favour of the printed rule
    assert type(replace(printed, horizon=500)) is page.AsPrinted
    with pytest.raises(ValueError, match=r"option must be one of .* got 'sound'"):
        page.settings("sound", claim)
    table = page.options_table()
    assert list(table["option"]) == list(page.OPTIONS) and table.shape[1] <= 7


def test_claims_are_true_of_their_targets() -> None:
    """Each black-box claim is the target's own curve, or lies on or below it."""
    grid = np.linspace(0, 1, 201)
    for null in NULLS.values():
        if null.target is None:
            continue
        if hasattr(null.target, "curve"):
            # Noise only hides a randomised response; the curve is that without noise.
            gap = np.asarray(null.target.curve()(grid)) - np.asarray(null.claimed(grid))
            assert gap.min() >= -1e-12, null.name
    # DPLaplace: count and sum are Laplace mechanisms with half of the budget each, and the same
    # noise moves both by one at most.
    x, y = NULLS["DPLaplace, ε = 0.1"].target.sample(200_000, rng=1)
    for edge in (-1.0, 0.0, 0.3, 0.6, 1.0):
        p, q = np.mean(x > edge), np.mean(y > edge)
        assert q <= math.exp(0.1) * p + 0.01 and p <= math.exp(0.1) * q + 0.01
    assert sum(null.strong for null in NULLS.values()) == 3


def test_printed_bounds_by_hand() -> None:
    claim = GaussianDP(1.0)
    audit = page.settings(page.PRINTED, claim)
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal(120), 1 + rng.standard_normal(120)
    look = audit.step(audit.init(), (x, y)).looks[0]
    n = look.n_samples
    assert n == 60
    reach = boundaries.continuous_critical_value(0.025) * math.sqrt(math.log(20 + n / 50) / n)
    a, b = (t + reach * t * (1 - t) for t in (look.alpha, look.beta))
    assert look.evidence == pytest.approx(float(claim(a)) - b, abs=1e-12)
    # The vectorised twin sees the same.
    whole = path(audit, (x, y))
    assert whole.evidence[0] == pytest.approx(look.evidence, abs=1e-12)


def test_one_look_against_the_recursion_and_by_hand() -> None:
    for claim, alpha in ((GaussianDP(1.0), 0.31), (GaussianDP(3.0), 0.001), (PureDP(1.0), 0.1)):
        beta = float(claim(alpha))
        exact, _ = exact_rejection(claim, alpha, beta, horizon=60)
        audit = page.settings(page.PUBLISHED, claim)
        assert page.one_look(audit, alpha, beta, 50) == pytest.approx(exact[0], abs=1e-12)
    # As printed a test that has seen no error of the first kind rejects unless beta is 1.
    claim, alpha, n = GaussianDP(1.0), 0.001, 60
    beta = float(claim(alpha))
    printed = page.settings(page.PRINTED, claim)
    none = (1 - alpha) ** n
    assert none * (1 - beta**n) * 0.9 <= page.one_look(printed, alpha, beta, n)
    assert page.one_look(printed, 0.01, float(claim(0.01)), n) == pytest.approx(0.546, abs=2e-3)


# Measured rates.


def test_fixed_tests_follow_the_exact_law() -> None:
    null = NULLS["fixed test, μ = 3, α = 0.001"]
    claim, alpha = null.claimed, null.alpha
    exact, lost = exact_rejection(claim, alpha, float(claim(alpha)))
    assert lost < 1e-6
    wanted = dict.fromkeys(page.OPTIONS, 2_000)
    hits = page._fixed_hits(null, wanted, 11)
    same = [page.PUBLISHED, page.CORRECTED, page.SIGNED, page.PREDICTABLE, page.PREDICTABLE_SIGNED]
    assert len({hits[option] for option in same}) == 1
    assert_plausible(binomial_tail(hits[page.PUBLISHED], 2_000, float(exact[-1])), "corner")
    assert_rejected(binomial_tail(hits[page.LINE], 2_000, float(exact[-1])), "line for corner")
    assert_rejected(binomial_tail(hits[page.PRINTED], 2_000, float(exact[-1])), "printed")


def test_options_share_their_pairs() -> None:
    null = NULLS[LAPLACE]
    wanted = {page.CORRECTED: 30, page.SIGNED: 12, page.SOUND: 30}
    one = page.rejections(null, wanted, horizon=200, rng=3)
    # In blocks or one by one: the repetitions, not the workers, own the generators.
    audits = [page.settings(option, null.claimed, 200) for option in wanted]
    generators = np.random.default_rng(3).spawn(30)
    parts = [
        page._decide(null, audits, list(wanted.values()), i, [generator])
        for i, generator in enumerate(generators)
    ]
    np.testing.assert_array_equal(one, np.concatenate(parts))
    assert one.shape == (30, 3) and set(np.unique(one[:, 1])) <= {0, 1, page.NOT_RUN}
    assert (one[:, 1] == page.NOT_RUN).sum() == 18 and not (one[:, [0, 2]] == page.NOT_RUN).any()
    for i, generator in enumerate(np.random.default_rng(3).spawn(3)):
        pairs = null.target.sample(200, rng=generator)
        for j, option in enumerate(wanted):
            stop = path(page.settings(option, null.claimed, 200), pairs, stop=True).rejected_at
            assert one[i, j] == (stop != NOT_REJECTED)


def test_a_shorter_watch_sees_a_part_of_the_rejections() -> None:
    null = NULLS["P = Q, Cauchy, f = 1 - α"]
    for option in (page.PUBLISHED, page.SIGNED, page.PREDICTABLE, page.SOUND, page.LINE):
        for seed in range(12):
            x, y = null.target.sample(900, rng=seed)
            long = path(page.settings(option, null.claimed, 900), (x, y), stop=True).rejected_at
            short = path(page.settings(option, null.claimed, 300), (x, y), stop=True).rejected_at
            assert short == (long if NOT_REJECTED < long <= 300 else NOT_REJECTED)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_are_those_of_scipy(case: tuple[int, int]) -> None:
    hits, trials = case
    known = stats.binomtest(hits, trials).proportion_ci(0.95, method="exact")
    assert page.interval(hits, trials) == pytest.approx((known.low, known.high), abs=1e-9)


def test_levels_table() -> None:
    result = computed(page.levels)
    table = result.table
    assert not table.duplicated(["claim", "option"]).any()
    assert (table["low"] <= table["rate"]).all() and (table["rate"] <= table["high"]).all()
    np.testing.assert_allclose(table["rate"], table["rejected"] / table["runs"])
    by_hand = stats.binom.sf(table["rejected"] - 1, table["runs"], page.LEVEL)
    np.testing.assert_allclose(table["p"], by_hand)
    # The lower limit is above 5 % exactly when the one-sided p-value is below 2.5 %.
    clear = np.abs(table["p"] - 0.025) > 1e-9
    assert ((table["low"] > page.LEVEL) == (table["p"] < 0.025))[clear].all()
    changes = page.changes_table(result)
    assert list(changes["change"]) == list(page.CHANGES) and changes.shape[1] <= 7
    claims = result.table.loc[~table["fixed"], "claim"].nunique()
    counted = changes[["claims with more", "with fewer", "not decided"]].sum(axis=1)
    assert (counted == claims).all()


def test_paired_counts_by_hand() -> None:
    null = NULLS[LAPLACE]
    decided = np.zeros((6, len(page.OPTIONS)), dtype=np.int8)
    decided[:, page.OPTIONS.index(page.CORRECTED)] = [1, 1, 0, 1, 0, 0]
    decided[:, page.OPTIONS.index(page.SIGNED)] = [1, 0, 1, 0, page.NOT_RUN, 0]
    rows = {row["change"]: row for row in page._paired(null, decided)}
    row = rows["rule (8) gets a sign, re-scored"]
    assert (row["gained"], row["lost"], row["runs"]) == (1, 2, 5)
    assert row["p"] == pytest.approx(1.0)
    assert rows["corner to line"]["p"] == 1.0


# Table 1, Figure 6.


def test_two_files_by_hand() -> None:
    z = computed(page.two_files).facts["z"]
    assert z[0] == pytest.approx((71.60 - 62.6) / (29.79 * math.sqrt(0.001 + 0.0025)))
    assert z[1] == pytest.approx((115.34 - 96.1) / (70.92 * math.sqrt(0.0035)))


def test_floor_rows_by_hand() -> None:
    stops = np.array([50, 50, 60, 100, NOT_REJECTED])
    row = page._floor_row("a", 50, stops, ("Laplace", 0.1))
    assert (row["mean"], row["share"], row["rate"]) == (65.0, 0.4, 0.8)
    assert row["error"] == pytest.approx(stats.sem([50, 50, 60, 100]))
    assert row["share_authors"] == 0.221
    p = stats.fisher_exact([[2, 3], [221, 779]]).pvalue
    assert row["share_p"] == pytest.approx(p)
    assert math.isnan(page._floor_row("a", 20, stops, ("Laplace", 0.1))["share_p"])
    assert math.isnan(page._floor_row("a", 50, stops, None)["mean"])


def test_no_audit_stops_before_its_burn_in() -> None:
    table = computed(page.floor).table
    means = table["mean"].dropna()
    assert (means >= table.loc[means.index, "burn_in"]).all()
    part = table[table["audit"] != page.TRUE_CLAIM]
    for _, line in part.groupby("audit"):
        assert line["mean"].is_monotonic_increasing  # in the burn-in


def test_a_wrong_floor_is_seen() -> None:
    """Twin of the comparison with the authors' shares: no look at n = 50."""
    claim = PureDP(0.1)
    target = page._leak("Laplace", 0.1)
    right = page.settings(page.PUBLISHED, claim)
    for audit, check in ((right, assert_plausible), (replace(right, burn_in=80), assert_rejected)):
        stops = run_many(audit, target.sample, repeats=250, rng=8)
        check(page._floor_row("a", 50, stops, ("Laplace", 0.1))["share_p"], "share at 50")


# The corner.

# Corner and line in the ten rows, from an independent implementation.
FLUID = [
    (47, 21),
    (51, 23),
    (98, 41),
    (115, 48),
    (196, 79),
    (1618, 585),
    (227, 91),
    (2140, 763),
    (873, 330),
    (5231, 1829),
]


def test_corner_and_line_against_an_independent_implementation() -> None:
    table = computed(page.corner).table
    for (_, row), (square, line) in zip(table.iterrows(), FLUID, strict=True):
        assert row["corner"] == pytest.approx(square, rel=0.006, abs=1.01)
        assert row["line"] == pytest.approx(line, rel=0.008, abs=1.01)


def test_line_samples_by_brute_force() -> None:
    claim = GaussianDP(0.5)
    alpha = np.linspace(0.05, 0.6, 12)
    beta = np.asarray(GaussianDP(1.0)(alpha))
    n, index, slope = page.line_samples(claim, alpha, beta)

    def statistic(size: int, a: float, b: float, s: float) -> float:
        spread = math.sqrt(s * s * a * (1 - a) + b * (1 - b))
        shape = math.sqrt(math.log(20 + size / 50) / size)
        return (float(claim.support(s)) - s * a - b) / (spread * shape)

    q = boundaries.critical_value(0.05)
    assert statistic(n, alpha[index], beta[index], slope) > q
    best = max(
        statistic(n - 1, a, b, float(s))
        for a, b in zip(alpha, beta, strict=True)
        for s in np.exp(np.linspace(-2.5, 2.5, 101))
    )
    assert best <= q
    with pytest.raises(ValueError, match=r"must hold a test below .*, got none"):
        page.line_samples(claim, alpha, np.asarray(LaplaceDP(0.1)(alpha)))


def test_factor_of_corner_and_line_follows_from_geometry() -> None:
    """For the same test and small gaps: (q / q')^2 (s a + b)^2 / (s^2 a^2 + b^2), and a log."""
    row = rows_of_the_paper(1_001)[5]
    n_line, index, s = page.line_samples(row.claim, row.alpha, row.beta)
    a, b = (math.sqrt(e * (1 - e)) for e in (row.alpha[index], row.beta[index]))
    n_corner = int(fluid_samples(row.claim, row.alpha[[index]], row.beta[[index]])[0])
    q, own = boundaries.critical_value(0.025), boundaries.critical_value(0.05)
    geometry = (q / own) ** 2 * (s * a + b) ** 2 / (s * s * a * a + b * b)
    logs = math.log(20 + n_corner / 50) / math.log(20 + n_line / 50)
    assert n_corner / n_line == pytest.approx(geometry * logs, rel=0.02)


# Figures.


@pytest.mark.parametrize(
    ("run", "draw"),
    [
        (page.levels, page.draw_levels),
        (page.levels, page.draw_intervals),
        (page.sides, page.draw_sides),
        (page.floor, page.draw_floor),
        (page.corner, page.draw_corner),
    ],
)
def test_figures_are_drawn_from_the_result(run, draw) -> None:
    result = computed(run)
    digests = set()
    for table in (result.table, result.table.assign(**moved(result))):
        figure = draw(replace(result, table=table))
        digests.add(plots._digest(figure))
        plots.plt.close(figure)
    assert len(digests) == 2


def moved(result: evidence.Result) -> dict:
    """One measured column, changed."""
    name = next(n for n in ("rate", "mean", "corner") if n in result.table)
    return {name: result.table[name] * 0.5 + (1 if name == "corner" else 0.1)}


def test_refused_profiles() -> None:
    for run in (page.levels, page.sides, page.two_files, page.floor, page.corner):
        with pytest.raises(ValueError, match="profile must be one of"):
            run("fast")
