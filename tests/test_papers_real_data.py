"""Pages 06 and 07: the sweep on small data, and judges that can say no."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ldpkv import data as datasets
from ldpkv.data import KeyValueData
from ldpkv.papers.evidence import Result
from ldpkv.papers.pckv import real_data

CLAIMS = {claim.id: claim for claim in real_data.CLAIMS}


@pytest.fixture(scope="module")
def swept() -> Result:
    sets = [{0: 1.0}, {0: 0.5, 2: -1.0}, {1: -0.5}, {0: -1.0, 1: 1.0, 2: 0.0}]
    users = KeyValueData.from_sets(sets * 200, n_keys=4)
    table, facts = real_data.sweep(users, padding=2, top=3, repeats=6, seed=1, epsilons=(1.0, 4.0))
    return Result("quick", table, facts, source="index")


def test_sweep_has_one_row_a_mechanism_and_epsilon(swept: Result) -> None:
    assert len(swept.table) == len(real_data.METHODS) * 2
    ours = swept.table["mechanism"].isin(real_data.PCKV)
    assert swept.table["t"].notna().equals(ours)
    assert (swept.table["frequency_low"] <= swept.table["frequency_mse"]).all()
    assert len(real_data.sweep_table(swept)) == 4
    real_data.plots.plt.close(real_data.draw_sweep(swept))


def test_expected_error_is_bias_and_variance() -> None:
    """Nobody truncated: no bias; everybody truncated: the bias is exact by hand."""
    users = KeyValueData.from_sets([{0: 1.0, 1: 1.0}] * 10, n_keys=2)
    keys = np.array([0, 1])
    for padding, bias in ((2, 0.0), (1, 0.5)):
        mechanism = real_data.PCKV["PCKV-UE"].from_epsilon(1.0, n_keys=2, padding=padding)
        mse, squared = real_data.expected_frequency_mse(users, mechanism, keys)
        assert squared == pytest.approx(bias**2)
        assert mse > squared


def everywhere(result: Result, sign: int) -> Result:
    signs = dict.fromkeys(result.facts["signs"], sign)
    order = dict.fromkeys(result.facts["order_frequency"], sign)
    return replace(result, facts={**result.facts, "signs": signs, "order_frequency": order})


@pytest.mark.parametrize(
    "id",
    [
        "pckv-index-rivals",
        "pckv-index-gss-rivals",
        "pckv-fig-10-ecommerce",
        "pckv-fig-10-clothing",
    ],
)
def test_orders_are_judged_by_signs(swept: Result, id: str) -> None:
    judge = CLAIMS[id].judge
    assert judge(everywhere(swept, -1)).verdict == "within error"
    assert judge(everywhere(swept, 0)).verdict == "shape only"
    assert judge(everywhere(swept, 1)).verdict == "differs"


def test_which_of_the_two_is_judged_against_the_expectation(swept: Result) -> None:
    judge = CLAIMS["pckv-index-order"].judge
    predicted = dict.fromkeys(swept.facts["predicted_order"], -1)
    agreed = replace(swept, facts={**swept.facts, "predicted_order": predicted})
    assert judge(everywhere(agreed, -1)).verdict == "within error"
    assert judge(everywhere(agreed, 1)).verdict == "differs"


@pytest.mark.parametrize("id", ["pckv-index-insteval", "pckv-index-gss"])
def test_expectation_is_judged_by_t(swept: Result, id: str) -> None:
    judge = CLAIMS[id].judge
    good = replace(swept, facts={**swept.facts, "largest_t": 1.0})
    bad = replace(swept, facts={**swept.facts, "largest_t": swept.facts["critical_t"] + 0.1})
    assert judge(good).verdict == "within error"
    assert judge(bad).verdict == "differs"


def test_a_wrong_variance_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equation (9) as printed in place of the corrected variance: the claim turns to differs."""
    users = datasets.load("gss")
    right = real_data.expected_frequency_mse

    def printed(data, mechanism, keys):  # type: ignore[no-untyped-def]
        numbers = real_data.theory.Numbers.of(mechanism)
        frequency = data.truth().frequency[keys]
        value = real_data.theory.frequency_variance_printed(numbers, frequency, data.n_users)
        return float(value.mean()), 0.0

    verdicts = []
    for formula in (right, printed):
        monkeypatch.setattr(real_data, "expected_frequency_mse", formula)
        table, facts = real_data.sweep(users, padding=7, top=7, repeats=40, seed=3, epsilons=(6.0,))
        verdicts.append(CLAIMS["pckv-index-gss"].judge(Result("quick", table, facts)).verdict)
    assert verdicts == ["within error", "differs"]


def test_other_judges_can_say_no() -> None:
    table = real_data.pd.DataFrame({"published": [1, 2], "counted": [1, 2]})
    sizes = Result("quick", table, {"equal": True, "cases": 2, "recalled": True}, source="files")
    judge = CLAIMS["pckv-data-sets"].judge
    assert judge(sizes).verdict == "exact"
    assert judge(replace(sizes, facts={**sizes.facts, "equal": False})).verdict == "differs"
    facts = {
        "bias": {1: -0.3, 2: -0.1, 3: -0.05, 5: -0.01},
        "bias_shrinks": True,
        "variance_grows": True,
        "best": 1,
    }
    truncation = Result("quick", table, facts, source="files")
    judge = CLAIMS["pckv-truncation"].judge
    assert judge(truncation).verdict == "exact"
    for broken in ("bias_shrinks", "variance_grows"):
        assert judge(replace(truncation, facts={**facts, broken: False})).verdict == "differs"
