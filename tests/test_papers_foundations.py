"""The page on the primitives: verdicts, judges that can say no, and the algebra behind it."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from scipy.optimize import minimize_scalar

from ldpkv import theory
from ldpkv.baselines import GRR, UE
from ldpkv.papers import evidence, foundations, plots

CLAIMS = {claim.id: claim for claim in foundations.CLAIMS}


@pytest.mark.parametrize("id", CLAIMS)
def test_recorded_verdict(id: str) -> None:
    claim = CLAIMS[id]
    result = claim.run("quick")
    found = claim.judge(result)
    assert found.verdict == claim.recorded[result.profile, result.source]
    json.dumps(asdict(found))
    assert claim.page == foundations.PAGE
    assert set(claim.recorded.values()) <= set(evidence.VERDICTS)
    assert claim.statement.endswith(".")


# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("pckv-primitives", {"equal": 0}),
    ("pckv-groups", {"split": 2}),
    ("pckv-groups", {"coin": 2}),
    ("pckv-oracle-variance", {"unbiased": 1}),
    ("pckv-oracle-variance", {"variance": 1}),
    ("pckv-oracle-variance", {"simplified": False}),
    ("pckv-oracle-variance", {"code": 1e-3}),
    ("pckv-oue", {"least_without_f": False}),
    ("pckv-oue-mse", {"beaten": 0}),
    ("pckv-oue-mean", {"mean_always_beaten": False}),
    ("foundations-crossover", {"rule": False}),
    ("foundations-crossover", {"rule_with_f": False}),
    ("foundations-variance-measured", {"p_value": 1e-7}),
    ("foundations-harmony", {"unbiased": 0}),
    ("foundations-harmony", {"variance": 0}),
    ("foundations-harmony", {"duchi": False}),
    ("foundations-roads", {"p_value": 1e-7}),
]


@pytest.mark.parametrize(("id", "broken"), BROKEN, ids=[f"{i}-{min(b)}" for i, b in BROKEN])
def test_judges_can_say_no(id: str, broken: dict) -> None:
    claim = CLAIMS[id]
    result = claim.run("quick")
    worse = replace(result, facts={**result.facts, **broken})
    assert claim.judge(worse).verdict != claim.judge(result).verdict


def test_every_judge_is_broken_once() -> None:
    assert {id for id, _ in BROKEN} == set(CLAIMS)


# A wrong library changes the verdicts too.


def verdict(id: str) -> str:
    claim = CLAIMS[id]
    return claim.judge(claim.run("quick")).verdict


def test_wrong_probabilities_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = UE.oue
    monkeypatch.setattr(
        UE, "oue", lambda exp, *, n_keys: replace(right(exp, n_keys=n_keys), fake_key=1 / exp**2)
    )
    assert verdict("pckv-primitives") == "differs"
    monkeypatch.undo()

    def grr(exp, *, n_keys):  # over d + 1 categories
        keep = exp / (exp + n_keys)
        return GRR(n_keys, keep, (1 - keep) / (n_keys - 1))

    monkeypatch.setattr(GRR, "from_exp_budgets", grr)
    assert verdict("pckv-primitives") == "differs"


def test_wrong_variance_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    right = theory.oracle_variance
    monkeypatch.setattr(theory, "oracle_variance", lambda p, q, f, n: right(p, q, 0, n))
    assert verdict("pckv-oracle-variance") == "differs"
    monkeypatch.setattr(theory, "oracle_variance", lambda p, q, f, n: 2 * right(p, q, f, n))
    assert verdict("foundations-variance-measured") == "differs"


def test_a_wrong_road_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from ldpkv import channels

    right = channels.perturb_grr
    monkeypatch.setattr(
        channels, "perturb_grr", lambda values, p, size, rng: right(values, 1 - p, size, rng)
    )
    assert verdict("foundations-roads") == "differs"


def test_fit_has_its_size_and_power(rng: np.random.Generator) -> None:
    law = np.array([0.4, 0.3, 0.2, 0.08, 0.015, 0.004, 0.001])
    right = [foundations.fit(rng.multinomial(2000, law), law) for _ in range(2000)]
    # P(binomial(2000, 0.05) > 160) and P(< 50) are below 1e-8; the statistic is nearly exact.
    assert 50 <= np.sum(np.array(right) < 0.05) <= 160
    wrong = np.roll(law, 1)
    assert foundations.fit(rng.multinomial(2000, wrong), law) < 1e-9
    assert foundations.fit(np.array([100, 100]), np.array([0.5, 0.5])) == 1


def test_largest_ratio() -> None:
    laws = np.array([[Fraction(1, 2), Fraction(1, 2), 0], [Fraction(1, 6), Fraction(5, 6), 0]])
    assert foundations.largest_ratio(laws) == 3


def test_variance_of_unary_encodings_by_algebra() -> None:
    """The closed form in the docstring, its minimum, and both named choices."""
    p, e, f = sympy.symbols("p E f", positive=True)
    q = foundations.unary_fake(p, e)
    k = f * (e - 1)
    closed = (e + k * (e * (1 - p) ** 2 - p**2)) / ((e - 1) ** 2 * p * (1 - p))
    assert sympy.simplify(theory.oracle_variance(p, q, f, 1) - closed) == 0
    best = 1 / (1 + sympy.sqrt((e - k) / (e * (1 + k))))
    slope = sympy.numer(sympy.together(sympy.diff(closed, p)))
    values = {e: sympy.Integer(4), f: sympy.Rational(1, 5)}
    assert abs(sympy.N(slope.subs(p, best).subs(values), 40)) < 1e-30
    assert sympy.simplify(best.subs(f, 0) - sympy.Rational(1, 2)) == 0
    root = sympy.symbols("r", positive=True)
    half = best.subs(f, sympy.Rational(1, 2)).subs(e, root**2)
    assert sympy.simplify(half - root / (root + 1)) == 0
    # Where RAPPOR passes OUE: f = r / (r + 1)^2.
    gap = theory.oue_oracle_variance(root**2, f, 1) - theory.rappor_oracle_variance(root, 1)
    assert sympy.simplify(gap.subs(f, root / (root + 1) ** 2)) == 0


@pytest.mark.parametrize("exp_epsilon", [1.5, 4.0, 30.0])
@pytest.mark.parametrize("frequency", [0.0, 0.1, 0.5, 0.9])
def test_best_unary_keep_by_search(exp_epsilon: float, frequency: float) -> None:
    found = minimize_scalar(
        lambda p: theory.oracle_variance(p, foundations.unary_fake(p, exp_epsilon), frequency, 1.0),
        bounds=(0.01, 0.99),
        method="bounded",
        options={"xatol": 1e-9},
    ).x
    assert math.isclose(foundations.best_unary_keep(exp_epsilon, frequency), found, abs_tol=1e-6)


def test_grr_limit_by_algebra() -> None:
    e, f = sympy.symbols("E f", positive=True)
    limit = foundations.grr_below(e, f)
    gap = theory.grr_oracle_variance(e, limit, f, 1) - theory.oue_oracle_variance(e, f, 1)
    assert sympy.simplify(gap) == 0
    assert sympy.simplify(foundations.grr_below(e, 0) - 3 * e - 2) == 0
    assert sympy.simplify(foundations.grr_below(e, 1) - e - 3 - 1 / e) == 0


def test_result_depends_on_the_seed_only() -> None:
    first, again = foundations.crossover("quick", 7), foundations.crossover("quick", 7)
    assert first.table.equals(again.table)
    assert not first.table.equals(foundations.crossover("quick", 8).table)


def test_unknown_profile() -> None:
    for run in {claim.run for claim in CLAIMS.values()}:
        with pytest.raises(ValueError, match="profile must be one of"):
            run("qick")


def test_tables_and_figures() -> None:
    table = foundations.epsilon_table(foundations.exact_epsilon())
    assert table["cases"].tolist() == table["exact ratio equal to it"].tolist()
    for draw, run in (
        (foundations.draw_crossover, foundations.crossover),
        (foundations.draw_unary_choice, foundations.unary_choice),
    ):
        figure = draw(run("quick"))
        assert all(axis.get_lines() for axis in figure.axes)
        plots.plt.close(figure)
