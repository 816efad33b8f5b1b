"""Claims, evidence and figures: what the book rests on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ldpkv.papers import claims, evidence, plots
from ldpkv.papers.evidence import Evidence, Result, num
from ldpkv.papers.pckv import allocation, privacy

ROOT = Path(__file__).parent.parent


def test_claims_are_well_formed() -> None:
    ids = [claim.id for claim in claims.CLAIMS]
    assert len(ids) == len(set(ids))
    for claim in claims.CLAIMS:
        assert claim.paper in ("foundations", "pckv", "hiskv", "audit", "together")
        assert claim.mark in claims.MARKS
        assert (ROOT / claim.page).exists(), claim.id
        assert claim.recorded, claim.id
        assert set(claim.recorded.values()) <= set(evidence.VERDICTS)
        assert {profile for profile, _ in claim.recorded} == set(evidence.PROFILES)
        assert claim.statement.endswith("."), claim.id


def test_find_by_id_and_by_number() -> None:
    assert claims.find("pckv-thm-2").id == "pckv-thm-2"
    assert claims.find("pckv-4").id == "pckv-thm-2"
    assert claims.find("pckv-20").id == "pckv-thm-4-eq-9"
    for id, near in (("pckv-thm-9", "pckv-thm-"), ("PCKV-thm2", "pckv-thm-2")):
        with pytest.raises(KeyError, match=f"no claim '{id}'; nearest: .*{near}") as caught:
            claims.find(id)
        assert "Numbers such as pckv-20 work too" in str(caught.value)
        listed = str(caught.value).split("nearest: ")[1].split(". ")[0].split(", ")
        assert 1 <= len(listed) <= 10
        assert set(listed) <= {claim.id for claim in claims.CLAIMS}
    # A word of a label is no claim number.
    for id in ("nonsense", "Theorem"):
        with pytest.raises(KeyError, match=f"no claim '{id}'; .*Numbers such as pckv-20 work too"):
            claims.find(id)


@pytest.mark.parametrize(
    "claim",
    [*privacy.CLAIMS, *allocation.CLAIMS],
    ids=lambda claim: claim.id,
)
def test_exact_claims_have_their_recorded_verdict(claim: evidence.Claim) -> None:
    about = claims.judge(claim.id, claim.run("quick"))
    assert about["verdict"] == about["recorded"]
    json.dumps(about)


# A judge must be able to say no: each broken fact changes its claim's verdict.
BROKEN = [
    ("pckv-thm-1", privacy.theorem_1, {"equal": 0}),
    ("pckv-thm-2", privacy.theorem_2, {"violations": 1}),
    ("pckv-thm-2-tight", privacy.theorem_2, {"loose": 0}),
    ("pckv-thm-2-sum", privacy.budget_sums, {"at_most_sum": False}),
    ("pckv-thm-2-limits", privacy.budget_sums, {"all_on_value": False}),
    ("pckv-pair-ratios", privacy.pair_ratios, {"printed": 8}),
    ("pckv-thm-3", privacy.theorem_3, {"violations": 1}),
    ("pckv-thm-3-tight", privacy.theorem_3, {"loose": 0}),
    ("pckv-thm-3-special", privacy.theorem_3, {"key_only": False}),
    ("pckv-thm-3-falls", privacy.theorem_3, {"falls": False}),
    ("pckv-toy", privacy.toy_example, {"second": 0.0142}),
    ("pckv-ue-padding", privacy.padding_gain, {"gain_when_l_exceeds_d": False}),
    ("pckv-eq-4", allocation.equation_4, {"key_is_largest": False}),
    ("pckv-eq-4-falls", allocation.equation_4, {"falls": False}),
    ("pckv-lemma-2", allocation.lemma_2, {"fails_somewhere": False}),
    ("pckv-lemma-2-terms", allocation.lemma_2, {"both_terms_equal": False}),
    ("pckv-lemma-3", allocation.lemma_3, {"excess": 1e-3}),
    ("pckv-parameters", allocation.parameters, {"grr": False}),
    ("pckv-fig-4", allocation.figure_4, {"h_between": False}),
    ("pckv-fig-5", allocation.figure_5, {"two_is_epsilon": False}),
]


@pytest.mark.parametrize(("id", "run", "broken"), BROKEN, ids=[row[0] for row in BROKEN])
def test_judges_can_say_no(id: str, run, broken: dict) -> None:
    result = run("quick")
    worse = replace(result, facts={**result.facts, **broken})
    assert claims.judge(id, worse)["verdict"] != claims.judge(id, result)["verdict"]


def test_a_wrong_theorem_changes_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enumeration against formulas with a lost factor: the claims turn to differs."""
    from ldpkv import allocation as formulas

    monkeypatch.setattr(formulas, "compose_ue", lambda x, y: max(y, x * y / (y + 1)))
    assert claims.judge("pckv-thm-2", privacy.theorem_2())["verdict"] == "differs"
    monkeypatch.setattr(formulas, "compose_grr", lambda x, y, padding: x * y / padding)
    assert claims.judge("pckv-thm-3", privacy.theorem_3())["verdict"] == "differs"


def test_every_judge_of_the_exact_pages_is_broken_once() -> None:
    ours = (*privacy.CLAIMS, *allocation.CLAIMS)
    assert {row[0] for row in BROKEN} == {claim.id for claim in ours}


def test_main(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert claims.main(["pckv-toy"]) == 0
    assert "Toy example (pckv-13): EXACT" in capsys.readouterr().out
    assert claims.main(["nothing"]) == 2
    assert "no claim 'nothing'" in capsys.readouterr().err
    toy = claims.find("pckv-toy")
    wrong = replace(toy, recorded=evidence.always("differs"))
    monkeypatch.setattr(claims, "CLAIMS", (wrong,))
    assert claims.main(["pckv-toy"]) == 1


def test_unknown_verdict_and_profile() -> None:
    with pytest.raises(ValueError, match=r"verdict must be one of .* got 'fine'"):
        Evidence("fine", "", "")
    with pytest.raises(ValueError, match=r"profile must be one of .* got 'qick'"):
        privacy.theorem_2("qick")


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0, 3, "0"),
        (-0.0, 3, "0"),
        (1234.5, 3, "1,230"),
        (0.062013, 3, "0.0620"),
        (1.23456e-7, 3, "1.23e-7"),
        (9.999, 2, "10"),
        (-2.5, 2, "-2.5"),
        (float("nan"), 3, "not defined"),
        (float("inf"), 3, "infinite"),
        (1e9, 2, "1.0e9"),
    ],
)
def test_num(value: float, digits: int, text: str) -> None:
    assert num(value, digits) == text


@pytest.fixture
def displayed(monkeypatch: pytest.MonkeyPatch) -> list:
    seen: list = []
    monkeypatch.setattr(plots, "display", lambda data, **_: seen.append(data))
    return seen


def result_of(values: list[float]) -> Result:
    table = pd.DataFrame({"x": range(len(values)), "y": values, "s": "optimised"})
    return Result("quick", table, setting="n = 3")


def test_figures_carry_data_alt_and_a_digest_of_what_is_drawn(displayed: list) -> None:
    for values, drawn in (([1.0, 2.0, 3.0],) * 2, ([1.0, 2.0, 3.0], [1.0, 2.0, 3.1])):
        figure, axis = plots.new_figure()
        result = result_of(values)
        plots.lines_with_bands(axis, result_of(drawn).table, x="x", y="y", series="s")
        plots.show_figure(figure, result, "test", caption="Shown", alt="Rising.")
    first, second = displayed
    about = first["application/vnd.ldpkv.figure+json"]
    assert about["alt"] == "Rising."
    assert about["caption"] == "Shown (n = 3; quick profile.)"
    assert about["csv"] == "x,y,s\n0,1,optimised\n1,2,optimised\n2,3,optimised\n"
    assert first["image/png"].startswith(b"\x89PNG")
    # Same data handed over, another curve drawn: the text that is compared differs.
    assert first["text/plain"] != second["text/plain"]


def test_digest_sees_bands_meshes_and_bars() -> None:
    def digest(draw) -> str:
        figure, axis = plots.new_figure()
        draw(axis)
        text = plots._digest(figure)
        plots.plt.close(figure)
        return text

    for one, two in (
        (
            lambda a: a.fill_between([0, 1], [0, 0], [1, 1]),
            lambda a: a.fill_between([0, 1], [0, 0], [1, 2]),
        ),
        (lambda a: a.pcolormesh(np.eye(3)), lambda a: a.pcolormesh(2 * np.eye(3))),
        (lambda a: a.bar([0, 1], [1, 2]), lambda a: a.bar([0, 1], [1, 3])),
        (lambda a: a.plot([0, 1]), lambda a: a.plot([0, 2])),
    ):
        assert digest(one) != digest(two)
        assert digest(one) == digest(one)


def test_tables(displayed: list) -> None:
    table = pd.DataFrame({"name": ["a<b"], "n": [12345], "x": [0.123456], "ok": [True]})
    plots.show_table(table, "t", caption="A table")
    markup = displayed[0]["text/html"]
    assert "a&lt;b" in markup
    assert '<td class="num">12,345</td>' in markup
    assert ">0.123<" in markup
    assert ">yes<" in markup
    assert "<caption>A table</caption>" in markup
    with pytest.raises(ValueError, match="at most 7 columns, got 8"):
        plots.show_table(pd.DataFrame(np.eye(8)), "t", caption="")


def test_labels_at_line_ends_do_not_overlap() -> None:
    figure, axis = plots.new_figure()
    axis.set(xlim=(0, 1), ylim=(0, 1))
    plots.label_ends(
        axis, {"a": (1, 0.5), "b": (1, 0.5), "c": (1, 0.51), "d": (1, 0.99), "e": (1, 1)}
    )
    heights = sorted(text.get_position()[1] for text in axis.texts)
    plots.plt.close(figure)
    assert np.diff(heights).min() >= 0.055 - 1e-9
    assert heights[-1] <= 1.0


def test_index_of_results_names_every_claim() -> None:
    index = (ROOT / "book" / "index-of-results.md").read_text(encoding="utf-8")
    assert [c.id for c in claims.CLAIMS if f"{{{{CLAIM:{c.id}}}}}" not in index] == []


def test_every_claim_that_differs_is_explained() -> None:
    """The card of a claim that differs links to its erratum, which names it."""
    errata = (ROOT / "book" / "errata.md").read_text(encoding="utf-8")
    differ = [c.id for c in claims.CLAIMS if evidence.DIFFERS in c.recorded.values()]
    assert [id for id in differ if f"{{{{CLAIM:{id}}}}}" not in errata] == []
