"""Audit released privacy libraries in an environment of their own, and store what was found.

    python tools/audit_peers.py lock              resolve again, write both locks (needs the index)
    python tools/audit_peers.py setup             put the locked packages into .venv-peers
    .venv-peers/bin/python tools/audit_peers.py run [--only text]

`make peers-lock` does the first, `make peers` the last two. `run` writes data/peers.json; with
`--only` it prints and writes nothing. Every case below is its own record: the strings that are
executed are the strings that are stored. A case draws `pairs` outputs on each of two inputs with
the stated seed, and its claim is tested at `LEVEL` by ldpkv/auditing/betting.py.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import importlib.metadata
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # .venv-peers does not install ldpkv
VENV = ROOT / ".venv-peers"
ALONE = VENV / "alone"  # packages without their dependencies, off the environment's path
RESULTS = ROOT / "data" / "peers.json"
LOCKS = {"requirements-peers": [], "requirements-peers-alone": ["--no-deps"]}
AUDITED = ("pure-ldp", "multi-freq-ldpy", "opendp", "diffprivlib", "jax-privacy")
BESIDE = ("numpy", "scipy", "numba", "scikit-learn", "statsmodels", "xxhash", "dp-accounting")

PAIRS = 10_000
# Chance that one true claim is rejected; all cases together stay below 1e-4.
LEVEL = 1e-6


# --- the environment ------------------------------------------------------------------------------


def uv() -> Path | None:
    """Path of the project's uv, or None where it cannot be had."""
    import bootstrap

    os.chdir(ROOT)
    found = bootstrap.find_uv()
    return Path(found).resolve() if found else None


def lock() -> None:
    """Resolve both files of requirements, as tools/sync_env.py does the main one."""
    tool = uv()
    if tool is None:
        sys.exit("the locks are made by uv, which cannot be installed here")
    for name, more in LOCKS.items():
        command = [tool, "pip", "compile", f"{name}.in", "--quiet", *more, "--universal"]
        command += ["--python-version", "3.11", "--generate-hashes", "--no-header"]
        command += ["--no-emit-index-url", "--no-emit-find-links"]
        subprocess.run([*command, "--output-file", f"{name}.lock"], cwd=ROOT, check=True)


def setup() -> None:
    """Make .venv-peers from the locks; nothing happens when it is up to date."""
    digest = hashlib.sha256((sys.version + str(ROOT)).encode())
    for name in LOCKS:
        digest.update((ROOT / f"{name}.lock").read_bytes())
    stamp = VENV / "peers-key.txt"
    if stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    print("[peers] installing the locked libraries into .venv-peers/ (0.8 GB)", flush=True)
    tool, python = uv(), VENV / "bin" / "python"
    base = getattr(sys, "_base_executable", sys.executable)
    shutil.rmtree(VENV, ignore_errors=True)
    first, second = (ROOT / f"{name}.lock" for name in LOCKS)
    if tool:
        subprocess.run([tool, "venv", "--quiet", "--python", base, VENV], check=True)
        sync = [tool, "pip", "sync", "--quiet", "--python", python, "--require-hashes"]
        commands = [[*sync, first], [*sync, "--target", ALONE, second]]
    else:
        subprocess.run([base, "-m", "venv", VENV], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
        commands = [[*pip, "-r", first], [*pip, "--target", ALONE, "-r", second]]
    for command in commands:
        subprocess.run(command, cwd=ROOT, check=True)
    stamp.write_text(digest.hexdigest())


# --- what is audited ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One mechanism of one release, its claim, and a pair of inputs.

    `setup` runs once; `call` is evaluated for each report with `x` bound to an input; `score` turns
    the report `r` into a number, which is what the auditor sees. Names known to all three: `seed`,
    `np`, `bits`, `llr`.
    """

    id: str
    library: str
    mechanism: str
    setup: str
    call: str
    inputs: tuple[str, str]
    score: str
    epsilon: str = "1.0"
    delta: str = "0.0"
    claim: str = "argument epsilon"
    discrete: bool = True
    pairs: int = PAIRS
    alone: str = ""  # version taken from .venv-peers/alone
    seeded: bool = True

    @property
    def seed(self) -> int | None:
        return zlib.crc32(self.id.encode()) if self.seeded else None


def bits(report: Any) -> int:
    """Read a vector of bits as a number."""
    return int("".join("1" if bit else "0" for bit in report), 2)


def llr(report: Any, scale: float) -> float:
    """Log-likelihood ratio of two Laplace coordinates: a one at 0 against a one at 1.

    Rounded: its last digits would give away the lowest bits of the noise, which is another case.
    """
    first, second = float(report[0]), float(report[1])
    here = abs(first - 1) - abs(first)
    there = abs(second - 1) - abs(second)
    return round((there - here) / scale, 9)


def pure_ldp(id: str, mechanism: str, setup: str, score: str, **more: Any) -> Case:
    """Case of pure-ldp; its inputs count from 1."""
    names = ", ".join(n for n in PURE_NAMES if n in setup)
    settings = {"call": "client.privatise(x)", "inputs": ("1", "2"), **more}
    return Case(
        "pure-ldp-" + id,
        "pure-ldp",
        mechanism,
        f"from pure_ldp.frequency_oracles import {names}\n" + textwrap.dedent(setup).strip(),
        score=score,
        **settings,
    )


PURE_NAMES = (
    "DEClient",
    "UEClient",
    "FastLHClient",
    "HEClient",
    "HadamardResponseClient",
    "HadamardResponseServer",
    "HadamardMechClient",
    "CMSClient",
    "CMSServer",
    "PCSClient",
    "PCSServer",
    "SketchResponseClient",
    "SketchResponseServer",
    "RAPPORClient",
    "RAPPORServer",
)

HASHED = (
    "import xxhash\n"
    "hashed = lambda seed, i, g: xxhash.xxh32(str(i), seed=seed).intdigest() % g\n"
    "agree = lambda r, g: 2 * (hashed(r[1], 0, g) == r[0]) + (hashed(r[1], 1, g) == r[0])\n"
)


def pure_ldp_cases() -> list[Case]:
    rappor = """
        from pure_ldp.core import generate_hash
        f = RAPPORClient(0.5, 8, []).convert_eps_to_f(1)
        hashes = [generate_hash(8, i) for i in {seeds}]
        client = RAPPORClient(f, m=8, hash_funcs=[hashes], num_of_cohorts=1)
    """
    # The servers of CMS and PCS would hand out hash functions, but do not start on numpy 2.4.
    sketch = """
        from pure_ldp.core import generate_hash_funcs
        hashes = generate_hash_funcs(8, 16)
    """
    return [
        pure_ldp("de", "DE (k-RR)", "client = DEClient(epsilon=1, d=4)", "int(r)"),
        pure_ldp("sue", "SUE", "client = UEClient(epsilon=1, d=3)", "bits(r)"),
        pure_ldp("oue", "OUE", "client = UEClient(epsilon=1, d=3, use_oue=True)", "bits(r)"),
        Case(
            "pure-ldp-blh",
            "pure-ldp",
            "LH, g = 2",
            "from pure_ldp.frequency_oracles import LHClient\n"
            + HASHED
            + "client = LHClient(epsilon=1, d=4, g=2)",
            "client.privatise(x)",
            ("1", "2"),
            "agree(r, client.g)",
        ),
        Case(
            "pure-ldp-olh",
            "pure-ldp",
            "OLH",
            "from pure_ldp.frequency_oracles import LHClient\n"
            + HASHED
            + "client = LHClient(epsilon=1, d=4, use_olh=True)",
            "client.privatise(x)",
            ("1", "2"),
            "agree(r, client.g)",
        ),
        Case(
            "pure-ldp-flh",
            "pure-ldp",
            "Fast LH, k = 100",
            "from pure_ldp.frequency_oracles import FastLHClient\n"
            + HASHED
            + "client = FastLHClient(epsilon=1, d=4, k=100, use_olh=True)",
            "client.privatise(x)",
            ("1", "2"),
            "agree(r, client.g)",
        ),
        pure_ldp("he", "HE", "client = HEClient(epsilon=1, d=3)", "llr(r, 2 / 1)", discrete=False),
        pure_ldp(
            "hr",
            "Hadamard response, ε ≤ 1",
            "client = HadamardResponseClient(1, 6, None)",
            "int(r)",
        ),
        pure_ldp(
            "hr-general",
            "Hadamard response, ε > 1",
            """
            server = HadamardResponseServer(2, 6)
            client = HadamardResponseClient(2, 6, server.get_hash_funcs())
            """,
            "int(r)",
            epsilon="2.0",
        ),
        pure_ldp(
            "hm-1",
            "Hadamard mechanism, t = 1, values only",
            "client = HadamardMechClient(epsilon=1, d=4, t=1)",
            "sum((2 * int(j) + (c > 0)) * 8**i for i, (j, c) in enumerate(r))",
        ),
        pure_ldp(
            "hm-2",
            "Hadamard mechanism, t = 2, values only",
            "client = HadamardMechClient(epsilon=1, d=4, t=2)",
            "sum((2 * int(j) + (c > 0)) * 8**i for i, (j, c) in enumerate(r))",
        ),
        pure_ldp(
            "hm-type",
            "Hadamard mechanism, t = 1, report as returned",
            "client = HadamardMechClient(epsilon=1, d=4, t=1)",
            "16 * isinstance(r, list) + sum(2 * int(j) + (c > 0) for j, c in r)",
        ),
        pure_ldp(
            "cms",
            "CMS",
            sketch
            + """
        client = CMSClient(1, hashes, 16)
        bit = lambda r, i: r[0][hashes[r[1]](str(i))] > 0
        """,
            "2 * bit(r, 1) + bit(r, 2)",
        ),
        pure_ldp(
            "hcms",
            "HCMS",
            sketch
            + """
        client = CMSClient(1, hashes, 16, is_hadamard=True)
        bit = lambda r, i: r[0] == client.had[r[2], hashes[r[1]](str(i))]
        """,
            "2 * bit(r, 1) + bit(r, 2)",
        ),
        pure_ldp(
            "pcs",
            "Private count sketch",
            sketch
            + """
        hashes = list(zip(hashes, generate_hash_funcs(8, 2)))
        client = PCSClient(1, 8, 16, hashes)
        sign = lambda r, i: 2 * hashes[r[1]][1](str(i)) - 1
        bit = lambda r, i: r[0][hashes[r[1]][0](str(i))] == sign(r, i)
        """,
            "2 * bit(r, 1) + bit(r, 2)",
        ),
        pure_ldp(
            "sketch-response",
            "Sketch response",
            sketch
            + """
        import xxhash
        client = SketchResponseClient(1, 16, hashes)
        g = client.client.g
        hashed = lambda seed, i: xxhash.xxh32(str(i), seed=seed).intdigest() % g
        bit = lambda r, i: hashed(r[0][1], hashes[r[1]](i)) == r[0][0]
        """,
            "2 * bit(r, 0) + bit(r, 1)",
        ),
        pure_ldp(
            "rappor",
            "RAPPOR, one hash function",
            rappor.format(seeds="(2,)"),
            "bits(r[0])",
            epsilon="client.convert_f_to_eps(f, 1)",
            claim="convert_f_to_eps(convert_eps_to_f(1), 1)",
        ),
        pure_ldp(
            "rappor-2",
            "RAPPOR, two hash functions",
            rappor.format(seeds="(2, 7)"),
            "bits(r[0])",
            epsilon="client.convert_f_to_eps(f, 2)",
            claim="convert_f_to_eps(convert_eps_to_f(1), 2)",
        ),
        pure_ldp(
            "old-sue",
            "SUE",
            "client = UEClient(epsilon=0.5, d=3)",
            "bits(r)",
            epsilon="0.5",
            alone="1.1.2",
        ),
        pure_ldp(
            "old-oue",
            "OUE",
            "client = UEClient(epsilon=0.5, d=3, use_oue=True)",
            "bits(r)",
            epsilon="0.5",
            alone="1.1.2",
        ),
        pure_ldp("new-sue", "SUE", "client = UEClient(epsilon=0.5, d=3)", "bits(r)", epsilon="0.5"),
        pure_ldp(
            "new-oue",
            "OUE",
            "client = UEClient(epsilon=0.5, d=3, use_oue=True)",
            "bits(r)",
            epsilon="0.5",
        ),
        low_bits(
            "pure-ldp",
            "pure-ldp-he-low-bits",
            "HE, lowest bits of one coordinate",
            "from pure_ldp.frequency_oracles import HEClient\nclient = HEClient(epsilon=1, d=2)",
            "client.privatise(x)[0]",
            ("2", "1"),
        ),
    ]


def low_bits(
    library: str,
    id: str,
    mechanism: str,
    setup: str,
    call: str,
    inputs: tuple[str, str],
    **more: Any,
) -> Case:
    """Case that sees only whether a noisy 0 or 1 is a multiple of 2^-53."""
    score = "float(float(r) * 2.0**53).is_integer()"
    seeded = library != "opendp"
    return Case(id, library, mechanism, setup, call, inputs, score, seeded=seeded, **more)


def multi_freq_cases() -> list[Case]:
    def case(id: str, mechanism: str, module: str, call: str, score: str, **more: Any) -> Case:
        name = call.split("(")[0]
        setup = f"from multi_freq_ldpy.{module} import {name}\n" + more.pop("setup", "")
        inputs = more.pop("inputs", ("0", "1"))
        return Case(
            "multi-freq-" + id,
            "multi-freq-ldpy",
            mechanism,
            setup.strip(),
            call,
            inputs,
            score,
            **more,
        )

    pure, once = "pure_frequency_oracles", "long_freq_est"
    claim = "argument eps_1 (a single report)"
    longitudinal = {"claim": claim}
    both = ("(0, 0)", "(1, 1)")
    pair = "bits(r[0][:2]) * 4 + bits(r[1][:2])"
    number = "int(r[0]) * 3 + int(r[1])"
    fake = "argument epsilon (whole report)"
    return [
        case("grr", "GRR", f"{pure}.GRR", "GRR_Client(x, 4, 1.0)", "int(r)"),
        case("sue", "SUE", f"{pure}.UE", "UE_Client(x, 3, 1.0, False)", "bits(r)"),
        case("oue", "OUE", f"{pure}.UE", "UE_Client(x, 3, 1.0, True)", "bits(r)"),
        case(
            "blh",
            "BLH",
            f"{pure}.LH",
            "LH_Client(x, 4, 1.0, False)",
            "agree(r, 2)",
            setup=HASHED,
        ),
        case(
            "olh",
            "OLH",
            f"{pure}.LH",
            "LH_Client(x, 4, 1.0, True)",
            "agree(r, 4)",
            setup=HASHED,
        ),
        case(
            "ss",
            "SS, the subset",
            f"{pure}.SS",
            "SS_Client(x, 10, 1.0)",
            "2 * (0 in r) + (1 in r)",
        ),
        case(
            "ss-order",
            "SS, the array as returned",
            f"{pure}.SS",
            "SS_Client(x, 10, 1.0)",
            "4 * place(r, 0) + place(r, 1)",
            setup="place = lambda r, i: r.tolist().index(i) if i in r else 3",
        ),
        case("he", "HE", f"{pure}.HE", "HE_Client(x, 3, 1.0)", "llr(r, 2 / 1)", discrete=False),
        case("adp", "ADP", f"{pure}.ADP", "ADP_Client(x, 3, 1.0)", "int(r)"),
        case(
            "adp-ue",
            "ADP, large domain",
            f"{pure}.ADP",
            "ADP_Client(x, 12, 1.0)",
            "bits(r[:2])",
        ),
        case(
            "l-grr",
            "L-GRR",
            f"{once}.L_GRR",
            "L_GRR_Client(x, 4, 2.0, 1.0)",
            "int(r)",
            **longitudinal,
        ),
        case(
            "l-sue",
            "L-SUE",
            f"{once}.L_SUE",
            "L_SUE_Client(x, 3, 2.0, 1.0)",
            "bits(r)",
            **longitudinal,
        ),
        case(
            "l-oue",
            "L-OUE",
            f"{once}.L_OUE",
            "L_OUE_Client(x, 3, 3.0, 0.5)",
            "bits(r)",
            epsilon="0.5",
            **longitudinal,
        ),
        case(
            "l-soue",
            "L-SOUE",
            f"{once}.L_SOUE",
            "L_SOUE_Client(x, 3, 3.0, 0.5)",
            "bits(r)",
            epsilon="0.5",
            **longitudinal,
        ),
        case(
            "l-osue",
            "L-OSUE",
            f"{once}.L_OSUE",
            "L_OSUE_Client(x, 3, 2.0, 1.0)",
            "bits(r)",
            **longitudinal,
        ),
        case(
            "l-adp",
            "L-ADP",
            f"{once}.L_ADP",
            "L_ADP_Client(x, 3, 2.0, 1.0)",
            "int(r) if np.ndim(r) == 0 else bits(r)",
            **longitudinal,
        ),
        case(
            "l-blh",
            "L-BLH",
            f"{once}.L_LH",
            "L_LH_Client(x, 4, 2.0, 1.0, False)",
            "agree(r, 2)",
            setup=HASHED,
            **longitudinal,
        ),
        case(
            "l-olh",
            "L-OLH",
            f"{once}.L_LH",
            "L_LH_Client(x, 4, 3.0, 1.0, True)",
            "agree(r, g)",
            setup=HASHED
            + "from multi_freq_ldpy.long_freq_est import L_LH\n"
            + "g = max(L_LH.L_LH_Client(0, 4, 3.0, 1.0, True)[0] for _ in range(1000)) + 1",
            **longitudinal,
        ),
        case(
            "dbitflip",
            "dBitFlipPM, all bits",
            f"{once}.dBitFlipPM",
            "dBitFlipPM_Client(x, 4, 4, 4, 1.0)",
            "bits(r > 0)",
            claim="argument eps_perm",
        ),
        case(
            "spl-grr",
            "SPL with GRR, two attributes",
            "mdim_freq_est.SPL_solution",
            "SPL_GRR_Client(x, [3, 3], 2, 1.0)",
            number,
            inputs=both,
            claim=fake,
        ),
        case(
            "spl-oue",
            "SPL with OUE, two attributes",
            "mdim_freq_est.SPL_solution",
            "SPL_UE_Client(x, [3, 3], 2, 1.0)",
            pair,
            inputs=both,
            claim=fake,
        ),
        case(
            "smp-grr",
            "SMP with GRR, two attributes",
            "mdim_freq_est.SMP_solution",
            "SMP_GRR_Client(x, [3, 3], 2, 1.0)",
            number,
            inputs=both,
            claim=fake,
        ),
        *(
            case(
                f"rsfd-{id}{end}",
                f"RS+FD with {name}, {differ}",
                "mdim_freq_est.RSpFD_solution",
                f"RSpFD_{function}_Client(x, [3, 3], 2, 1.0)",
                score,
                inputs=inputs,
                claim=fake,
                pairs=pairs,
            )
            for id, name, function, score, pairs in (
                ("grr", "GRR", "GRR", number, PAIRS),
                ("ue-zero", "OUE, zero fakes", "UE_zero", pair, 4 * PAIRS),
                ("ue-rnd", "OUE, random fakes", "UE_rnd", pair, 4 * PAIRS),
            )
            for end, differ, inputs in (
                ("", "both attributes differ", both),
                ("-one", "one attribute differs", ("(0, 0)", "(1, 0)")),
            )
        ),
        low_bits(
            "multi-freq-ldpy",
            "multi-freq-he-low-bits",
            "HE, lowest bits of one coordinate",
            "from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client",
            "HE_Client(x, 2, 1.0)[0]",
            ("1", "0"),
        ),
    ]


def opendp_cases() -> list[Case]:
    start = 'import opendp.prelude as dp\ndp.enable_features("contrib")\n'
    real = "space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(float)\n"
    whole = "space = dp.atom_domain(T=int), dp.absolute_distance(int)\n"
    vector = "space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)\n"

    def case(id: str, mechanism: str, setup: str, score: str, **more: Any) -> Case:
        settings: dict[str, Any] = {
            "call": "m(x)",
            "inputs": ("0", "1"),
            "epsilon": "m.map(1)",
            "claim": "m.map(1)",
            **more,
        }
        return Case(
            "opendp-" + id,
            "opendp",
            mechanism,
            start + setup,
            score=score,
            seeded=False,
            **settings,
        )

    approximate = {
        "epsilon": "m.map(1.0).epsilon(1e-5)",
        "delta": "1e-5",
        "claim": "m.map(1.0).epsilon(1e-5), δ = 1e-5",
    }
    return [
        case(
            "rr-bool",
            "randomized_response_bool",
            "m = dp.m.make_randomized_response_bool(prob=0.75)",
            "int(r)",
            inputs=("True", "False"),
        ),
        case(
            "rr",
            "randomized_response, 4 categories",
            'm = dp.m.make_randomized_response(["a", "b", "c", "d"], prob=0.5)',
            'ord(r) - ord("a")',
            inputs=('"a"', '"b"'),
        ),
        case(
            "rr-bitvec",
            "randomized_response_bitvec (basic RAPPOR)",
            "space = dp.bitvector_domain(max_weight=1), dp.discrete_distance()\n"
            "m = dp.m.make_randomized_response_bitvec(*space, f=0.5)\n"
            "one = lambda i: np.packbits([i == 0, i == 1, 0, 0, 0, 0, 0, 0]).tobytes()",
            "r[0] >> 6",
            inputs=("one(0)", "one(1)"),
        ),
        case(
            "laplace",
            "laplace, floats",
            real + "m = dp.m.make_laplace(*space, scale=1.0)",
            "r",
            inputs=("0.0", "1.0"),
            epsilon="m.map(1.0)",
            discrete=False,
        ),
        case(
            "laplace-int",
            "laplace, integers",
            whole + "m = dp.m.make_laplace(*space, scale=1.0)",
            "max(-6, min(7, r))",
        ),
        case(
            "geometric",
            "geometric, bounds 0 to 5",
            whole + "m = dp.m.make_geometric(*space, scale=1.0, bounds=(0, 5))",
            "r",
        ),
        case(
            "gaussian",
            "gaussian, floats",
            real + "m = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=1.0))",
            "r",
            inputs=("0.0", "1.0"),
            discrete=False,
            **approximate,
        ),
        case(
            "gaussian-int",
            "gaussian, integers",
            whole + "m = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=1.0))",
            "max(-6, min(7, r))",
            epsilon="m.map(1).epsilon(1e-5)",
            delta="1e-5",
            claim="m.map(1).epsilon(1e-5), δ = 1e-5",
        ),
        case(
            "canonical",
            "canonical_noise, ε = 1, δ = 0.001",
            real + "m = dp.m.make_canonical_noise(*space, d_in=1.0, d_out=(1.0, 0.001))",
            "r",
            inputs=("0.0", "1.0"),
            epsilon="m.map(1.0)[0]",
            delta="m.map(1.0)[1]",
            claim="m.map(1.0)",
            discrete=False,
        ),
        case(
            "noisy-max",
            "noisy_max, pure",
            vector + "m = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=1.0)",
            "r",
            inputs=("[0, 0]", "[1, -1]"),
        ),
        case(
            "quantile",
            "private_quantile, median",
            "space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()\n"
            "m = dp.m.make_private_quantile(\n"
            "    *space, dp.max_divergence(), candidates=[0, 1, 2, 3], alpha=0.5, scale=1.0\n"
            ")",
            "r",
            inputs=("[0, 0, 3]", "[0, 0, 3, 3]"),
        ),
        low_bits(
            "opendp",
            "opendp-laplace-low-bits",
            "laplace, lowest bits",
            start + real + "m = dp.m.make_laplace(*space, scale=1.0)",
            "m(x)",
            ("0.0", "1.0"),
        ),
    ]


def diffprivlib_cases() -> list[Case]:
    state = "state = np.random.RandomState(seed)\n"

    def case(id: str, call: str, inputs: tuple[str, str], score: str = "r", **more: Any) -> Case:
        name = call.split("(")[0]
        settings = {"mechanism": name, "discrete": False, **more}
        # A utility is given when the mechanism is made; all else is made once.
        made = "" if "utility=x" in call else f"m = {call}"
        return Case(
            "diffprivlib-" + id,
            "diffprivlib",
            setup=f"from diffprivlib.mechanisms import {name}\n{state}{made}",
            call="m.randomise(x)" if made else f"{call}.randomise()",
            inputs=inputs,
            score=score,
            **settings,
        )

    def tool(id: str, name: str, call: str, inputs: tuple[str, str], **more: Any) -> Case:
        settings = {
            "score": "float(r)",
            "discrete": False,
            "mechanism": f"tools.{name}",
            **more,
        }
        return Case(
            "diffprivlib-" + id,
            "diffprivlib",
            setup=f"from diffprivlib.tools import {name}\n{state}"
            "from diffprivlib import BudgetAccountant\n"
            "free = BudgetAccountant()",
            call=call,
            inputs=inputs,
            **settings,
        )

    one = "epsilon=1.0, sensitivity=1.0, "
    ints = "epsilon=1.0, sensitivity=1, "
    end = "random_state=state)"
    unit = ("0.0", "1.0")
    clipped = "max(-6, min(7, r))"
    inner = "accountant=free, random_state=state"
    regression = (
        "from diffprivlib.models import LinearRegression\n"
        "model = lambda low, high: LinearRegression(\n"
        "    epsilon=1.0, bounds_X=(low, high), bounds_y=(0, 1), fit_intercept=False,\n"
        "    random_state=state,\n"
        ")\n" + state
    )
    records = "np.array([[1.0], [x]]), np.array([0.5, 0.5])"
    return [
        case(
            "binary",
            'Binary(epsilon=1.0, value0="0", value1="1", random_state=state)',
            ('"0"', '"1"'),
            "int(r)",
            discrete=True,
        ),
        case("laplace", f"Laplace({one}{end}", unit),
        case("laplace-truncated", f"LaplaceTruncated({one}lower=0, upper=3, {end}", unit),
        case("laplace-folded", f"LaplaceFolded({one}lower=0, upper=3, {end}", unit),
        case("laplace-bounded-domain", f"LaplaceBoundedDomain({one}lower=0, upper=3, {end}", unit),
        case(
            "laplace-bounded-noise",
            f"LaplaceBoundedNoise({one}delta=0.1, {end}",
            unit,
            delta="0.1",
            claim="arguments epsilon, delta",
        ),
        case("geometric", f"Geometric({ints}{end}", ("0", "1"), clipped, discrete=True),
        case(
            "geometric-truncated",
            f"GeometricTruncated({ints}lower=0, upper=3, {end}",
            ("0", "1"),
            discrete=True,
        ),
        case(
            "geometric-folded",
            f"GeometricFolded({ints}lower=0, upper=3, {end}",
            ("0", "1"),
            discrete=True,
        ),
        case(
            "gaussian",
            f"Gaussian({one}delta=0.01, {end}",
            unit,
            delta="0.01",
            claim="arguments epsilon, delta",
        ),
        case(
            "gaussian-analytic",
            f"GaussianAnalytic({one}delta=0.01, {end}",
            unit,
            delta="0.01",
            claim="arguments epsilon, delta",
        ),
        case(
            "gaussian-discrete",
            f"GaussianDiscrete({ints}delta=0.01, {end}",
            ("0", "1"),
            clipped,
            discrete=True,
            delta="0.01",
            claim="arguments epsilon, delta",
        ),
        case("staircase", f"Staircase({one}{end}", unit),
        case(
            "uniform",
            f"Uniform(delta=0.1, sensitivity=1.0, {end}",
            unit,
            epsilon="0.0",
            delta="0.1",
            claim="ε = 0, argument delta",
        ),
        case("snapping", f"Snapping({one}lower=-5, upper=5, {end}", unit, discrete=True),
        case(
            "exponential",
            "Exponential(epsilon=1.0, sensitivity=1.0, utility=x, random_state=state)",
            ("[0.0, 0.0]", "[1.0, -1.0]"),
            "int(r)",
            discrete=True,
        ),
        case(
            "permute-and-flip",
            "PermuteAndFlip(epsilon=1.0, sensitivity=1.0, utility=x, random_state=state)",
            ("[0.0, 0.0]", "[1.0, -1.0]"),
            "int(r)",
            discrete=True,
        ),
        tool(
            "mean",
            "mean",
            f"mean(np.array([-1.0, x]), epsilon=1.0, bounds=(-1, 5), {inner})",
            ("-1.0", "5.0"),
        ),
        tool(
            "sum",
            "sum",
            f"sum(np.array([-1.0, x]), epsilon=1.0, bounds=(-1, 5), {inner})",
            ("-1.0", "5.0"),
        ),
        tool(
            "var",
            "var",
            f"var(np.array([-1.0, x]), epsilon=1.0, bounds=(-1, 5), {inner})",
            ("-1.0", "5.0"),
        ),
        tool(
            "count-nonzero",
            "count_nonzero",
            f"count_nonzero(np.array([0, 0, x]), epsilon=1.0, {inner})",
            ("0", "1"),
            discrete=True,
            score="int(r)",
        ),
        *(
            tool(
                "histogram" + end,
                "histogram",
                f"histogram(x, epsilon=1.0, bins=2, range=(0, 2), {inner})",
                inputs,
                mechanism=f"tools.histogram, {differ}",
                discrete=True,
                score="10 * min(5, int(r[0][0])) + min(5, int(r[0][1]))",
            )
            for end, differ, inputs in (
                ("", "a record more", ("np.array([0.5])", "np.array([0.5, 1.5])")),
                ("-replaced", "a record replaced", ("np.array([0.5])", "np.array([1.5])")),
            )
        ),
        tool(
            "median",
            "median",
            f"median(np.array([0.0, 2.0, x]), epsilon=1.0, bounds=(-1, 5), {inner})",
            ("-1.0", "5.0"),
            pairs=5000,
        ),
        Case(
            "diffprivlib-regression",
            "diffprivlib",
            "LinearRegression, bounds_X from 0 to 5",
            regression,
            f"model(0, 5).fit({records}).coef_[0]",
            ("0.0", "5.0"),
            "float(r)",
            discrete=False,
            pairs=2000,
        ),
        Case(
            "diffprivlib-regression-symmetric",
            "diffprivlib",
            "LinearRegression, bounds_X from -5 to 5",
            regression,
            f"model(-5, 5).fit({records}).coef_[0]",
            ("0.0", "5.0"),
            "float(r)",
            discrete=False,
            pairs=2000,
        ),
        low_bits(
            "diffprivlib",
            "diffprivlib-laplace-low-bits",
            "Laplace, lowest bits",
            f"from diffprivlib.mechanisms import Laplace\n{state}m = Laplace({one}{end}",
            "m.randomise(x)",
            unit,
        ),
        low_bits(
            "diffprivlib",
            "diffprivlib-gaussian-low-bits",
            "GaussianAnalytic, lowest bits",
            "from diffprivlib.mechanisms import GaussianAnalytic\n"
            f"{state}m = GaussianAnalytic({one}delta=1e-5, {end}",
            "m.randomise(x)",
            unit,
            delta="1e-5",
            claim="arguments epsilon, delta",
        ),
        low_bits(
            "diffprivlib",
            "diffprivlib-snapping-low-bits",
            "Snapping, lowest bits",
            f"from diffprivlib.mechanisms import Snapping\n{state}"
            f"m = Snapping({one}lower=-5, upper=5, {end}",
            "m.randomise(x)",
            unit,
        ),
    ]


def all_cases() -> list[Case]:
    """Every case, libraries in the order of `AUDITED`."""
    return [*pure_ldp_cases(), *multi_freq_cases(), *opendp_cases(), *diffprivlib_cases()]


# --- drawing and judging --------------------------------------------------------------------------


def seed_everything(seed: int) -> None:
    """Seed all global generators that the libraries use; numba's compiled code has its own."""
    import random

    import numba
    import numpy as np

    @numba.njit
    def inside(value: int) -> None:
        np.random.seed(value)  # noqa: NPY002 (the state that compiled library code draws from)

    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (the state that library code draws from)
    inside(seed)


def draw(case: Case) -> dict[str, Any]:
    """Draw a case's scores on both inputs, and evaluate its claim."""
    import numpy as np

    if case.seed is not None:
        seed_everything(case.seed)
    names: dict[str, Any] = {"np": np, "bits": bits, "llr": llr, "seed": case.seed}
    exec(case.setup, names)
    epsilon, delta = (float(eval(text, names)) for text in (case.epsilon, case.delta))
    report = eval(f"lambda x: {case.call}", names)
    score = eval(f"lambda r: {case.score}", names)
    first, second = (eval(text, names) for text in case.inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        x = [float(score(report(first))) for _ in range(case.pairs)]
        y = [float(score(report(second))) for _ in range(case.pairs)]
    return {"epsilon": epsilon, "delta": delta, "x": x, "y": y}


def draw_alone(case: Case) -> dict[str, Any]:
    """Draw in a process whose path starts with .venv-peers/alone."""
    command = [sys.executable, __file__, "draw", case.id]
    paths = os.pathsep.join([str(ALONE), str(ROOT)])
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True
    )
    drawn = json.loads(done.stdout)
    assert drawn.pop("version") == case.alone
    return drawn


def audit(case: Case, drawn: dict[str, Any]) -> dict[str, Any]:
    """Test the claim, and half the claim, and bound epsilon from below."""
    import numpy as np

    from ldpkv.auditing import betting
    from ldpkv.auditing.learners import Densities
    from ldpkv.tradeoff import ApproximateDP

    x, y = np.array(drawn["x"]), np.array(drawn["y"])
    epsilon, delta = drawn["epsilon"], drawn["delta"]
    # Values that repeat are atoms to this learner; numbers get the default's three.
    options: dict[str, Any] = {"learners": (Densities(),)} if case.discrete else {}
    options |= {"level": LEVEL, "horizon": case.pairs}
    stops = []
    for share in (1.0, 0.5):
        claimed = ApproximateDP(share * epsilon, share * delta)
        state = betting.audit(betting.Betting(claimed, **options), (x, y))
        stops.append(None if state.rejected_at is None else int(state.rejected_at))
    return {
        "rejected_at": stops[0],
        "half_rejected_at": stops[1],
        "epsilon_low": lower_bound(x, y, delta, discrete=case.discrete),
        "outcomes": len(np.union1d(x, y)) if case.discrete else None,
    }


def lower_bound(x: Any, y: Any, delta: float, *, discrete: bool, confidence: float = 0.95) -> float:
    """Lower confidence bound on epsilon at `delta`, both directions.

    The first half of the pairs chooses, for each direction, the event whose likelihood ratio looks
    best; the second half bounds both its probabilities by Clopper-Pearson, each at a quarter of the
    error. What is returned is finite even when the event was never seen on the other side.
    """
    import numpy as np
    from scipy import stats

    half = len(x) // 2
    if discrete:
        cells = np.union1d(x, y)
        place = [np.searchsorted(cells, side) for side in (x, y)]
    else:
        edges = np.quantile(np.concatenate([x[:half], y[:half]]), np.linspace(0, 1, 41)[1:-1])
        cells = np.arange(len(edges) + 1)
        place = [np.searchsorted(edges, side) for side in (x, y)]
    size = len(cells)
    tail = (1 - confidence) / 4
    best = 0.0
    for one, other in (place, place[::-1]):
        counts = [np.bincount(side[:half], minlength=size) for side in (one, other)]
        order = np.argsort(-(counts[0] + 0.5) / (counts[1] + 0.5), kind="stable")
        hits = [np.cumsum(side[order]) for side in counts]
        low = stats.beta.ppf(tail, hits[0], half - hits[0] + 1)
        high = stats.beta.ppf(1 - tail, hits[1] + 1, np.maximum(half - hits[1], 1e-9))
        value = (np.nan_to_num(low) - delta) / high
        event = np.isin(np.arange(size), order[: int(np.argmax(value)) + 1])
        rest = len(x) - half
        k, m = (int(event[side[half:]].sum()) for side in (one, other))
        p = float(stats.beta.ppf(tail, k, rest - k + 1)) if k else 0.0
        q = float(stats.beta.ppf(1 - tail, m + 1, rest - m)) if m < rest else 1.0
        if p > delta:
            best = max(best, math.log((p - delta) / q))
    return best


# --- counts, conversions, auditors ----------------------------------------------------------------


def counted(
    id: str,
    library: str,
    what: str,
    call: str,
    hits: int,
    trials: int,
    claimed: float | None,
    **more: Any,
) -> dict[str, Any]:
    """One frequency beside the probability that the library's own parameters give it."""
    return {
        "id": id,
        "library": library,
        "version": version(library),
        "what": what,
        "call": call,
        "seed": None,
        "hits": hits,
        "trials": trials,
        "claimed": claimed,
        **more,
    }


def counts() -> list[dict[str, Any]]:
    """Frequencies of single events that show how a defect works."""
    rows = []
    cases = {case.id: case for case in all_cases()}
    for id in ("pure-ldp-rappor", "pure-ldp-rappor-2"):
        case = cases[id]
        seed_everything(case.seed or 0)
        names: dict[str, Any] = {"bits": bits, "seed": case.seed}
        exec(case.setup, names)
        own = sorted({h("0") for h in names["hashes"]})
        reports = [names["client"].privatise(1)[0] for _ in range(PAIRS)]
        cleared = sum(report[i] == 0 for report in reports for i in own)
        rows.append(
            counted(
                id + "-cleared",
                "pure-ldp",
                "a set bit is reported as 0",
                f"{case.setup}\nclient.privatise(1)",
                cleared,
                PAIRS * len(own),
                names["f"] / 2,
                seed=case.seed,
            )
        )
    for id in ("pure-ldp-old-sue", "pure-ldp-old-oue", "pure-ldp-new-sue", "pure-ldp-new-oue"):
        case = cases[id]
        drawn = draw_alone(case) if case.alone else draw(case)
        own = sum(int(code) >= 4 for code in drawn["x"])  # the first of three bits
        root = math.exp(0.25)
        rows.append(
            counted(
                id + "-own-bit",
                "pure-ldp",
                "the user's own bit is reported as 1",
                f"{case.setup}\nclient.privatise(1)",
                own,
                case.pairs,
                0.5 if "oue" in id else root / (root + 1),
                seed=case.seed,
                version=case.alone or version("pure-ldp"),
            )
        )
    case = cases["multi-freq-ss-order"]
    drawn = draw(case)
    size, grown = 3, 3 * math.e  # 3 of 10: round(10 / (e + 1))
    kept = grown / (grown + 10 - size)
    # The place of value 0 is the code over 4; 3 stands for "not in the array".
    for id, side, what, claimed in (
        ("first", "x", "the user's own value comes first", kept),
        ("later", "x", "the user's own value comes second or third", 0.0),
        ("other", "y", "another value comes second or third", None),
    ):
        places = [int(code) // 4 for code in drawn[side]]
        hits = sum(place == 0 if id == "first" else place in (1, 2) for place in places)
        rows.append(
            counted(
                "multi-freq-ss-" + id,
                "multi-freq-ldpy",
                what,
                case.setup + "\n" + case.call,
                hits,
                case.pairs,
                claimed,
                seed=case.seed,
            )
        )
    case = cases["pure-ldp-hm-type"]
    drawn = draw(case)
    rows.append(
        counted(
            "pure-ldp-hm-list",
            "pure-ldp",
            "the report is a list",
            case.setup + "\n" + case.call,
            sum(code >= 16 for code in drawn["x"]),
            case.pairs,
            math.e / (math.e + 1),
            seed=case.seed,
        )
    )
    # Input 1 is index 0, whose coefficients are all 1: an odd code is a true report.
    rows.append(
        counted(
            "pure-ldp-hm-mixed",
            "pure-ldp",
            "a list that is false, or another type that is true",
            case.setup + "\n" + case.call,
            sum((code >= 16) != (code % 2 == 1) for code in drawn["x"]),
            case.pairs,
            None,
            seed=case.seed,
        )
    )
    rows += [threshold("laplace"), *noisy_max()]
    return rows


def threshold(noise: str, users: int = 100_000) -> dict[str, Any]:
    """Share of keys that one user holds and that are released, beside the delta of the map."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    setup = (
        "count = dp.t.make_count_by(\n"
        "    dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()\n"
        ")\n"
        f"m = count >> dp.m.then_{noise}_threshold(scale=1.0, threshold=5)"
    )
    names = {"dp": dp}
    exec(setup, names)
    released = len(names["m"]([f"user{i}" for i in range(users)]))
    epsilon, delta = names["m"].map(1)
    return counted(
        f"opendp-{noise}-threshold",
        "opendp",
        "a key that one user holds is released",
        f'{setup}\nm([f"user{{i}}" for i in range({users})])',
        released,
        users,
        float(delta),
        epsilon=float(epsilon),
    )


def noisy_max() -> list[dict[str, Any]]:
    """Frequency of the second index of noisy_max under zCDP, on both of two inputs."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    setup = (
        "space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)\n"
        "m = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=1.0)"
    )
    names = {"dp": dp}
    exec(setup, names)
    rows = []
    # The exponential mechanism at epsilon 2 for scores that move by 1 in both directions.
    for scores, expected in (([0, 0], 0.5), ([1, -1], 1 / (1 + math.exp(2)))):
        hits = sum(names["m"](scores) for _ in range(PAIRS))
        rows.append(
            counted(
                f"opendp-noisy-max-zcdp-{scores[0]}",
                "opendp",
                f"the second of scores {scores} wins",
                f"{setup}\nm({scores})",
                hits,
                PAIRS,
                expected,
                rho=float(names["m"].map(1)),
            )
        )
    return rows


def conversions() -> list[dict[str, Any]]:
    """What pure-ldp's RAPPOR client makes of an epsilon: f, and the epsilon that f stands for."""
    from pure_ldp.frequency_oracles import RAPPORClient

    client = RAPPORClient(0.5, 8, [])
    rows = []
    for epsilon in (0.1, 1.0, 4.0, 8.0, 10.0, 12.0):
        f = client.convert_eps_to_f(epsilon)
        # f = 0 means no noise; the library's own inverse then divides by zero.
        back = [client.convert_f_to_eps(f, k) if f > 0 else None for k in (1, 2)]
        rows.append({"epsilon": epsilon, "f": f, "one_hash": back[0], "two_hashes": back[1]})
    return rows


def seeds() -> list[dict[str, Any]]:
    """Whether two runs after the same numpy.random.seed give the same reports."""
    import numba
    import numpy as np
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    calls: dict[str, Callable[[], Any]] = {
        "GRR_Client(0, 1000, 1.0)": lambda: int(GRR_Client(0, 1000, 1.0)),
        "UE_Client(0, 1000, 1.0)": lambda: UE_Client(0, 1000, 1.0).tolist(),
        "SS_Client(0, 1000, 1.0)": lambda: SS_Client(0, 1000, 1.0).tolist(),
    }

    @numba.njit
    def inside(value: int) -> None:
        np.random.seed(value)  # noqa: NPY002 (what is being measured)

    rows = []
    for text, call in calls.items():
        same = []
        for seed in (np.random.seed, inside):
            seed(1)
            first = [call() for _ in range(10)]
            seed(1)
            same.append(first == [call() for _ in range(10)])
        rows.append({"call": text, "numpy_seed": same[0], "numba_seed": same[1]})
    return rows


BOUNDS = {
    "epsilon_clopper_pearson": "a.epsilon_clopper_pearson(0.05, 1e-5)",
    "epsilon_one_run": "a.epsilon_one_run(0.05, 1e-5)",
    "epsilon_one_run_fdp": "a.epsilon_one_run_fdp(0.05, 1e-5)",
    "epsilon_from_gdp": "a.epsilon_from_gdp(0.05, 1e-5)",
}


def null_bounds(sets: int = 400, size: int = 60, seed: int = 2026) -> list[dict[str, Any]]:
    """Share of null data sets for which a lower bound of jax-privacy is above 0."""
    import importlib.util

    import numpy as np

    # The file is loaded by itself: the package's own start imports jax, which it does not use.
    path = ALONE / "jax_privacy" / "auditing.py"
    spec = importlib.util.spec_from_file_location("jax_privacy_auditing", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    rows = []
    for name, call in BOUNDS.items():
        rng = np.random.default_rng(seed)
        found = []
        for _ in range(sets):
            scores = rng.normal(size=(2, size))
            found.append(float(eval(call, {"a": module.CanaryScoreAuditor(*scores)})))
        above = sum(value > 0 for value in found)
        rows.append(
            {
                "function": name,
                "call": f"a = CanaryScoreAuditor(*rng.normal(size=(2, {size})))\n{call}",
                "seed": seed,
                "sets": sets,
                "above_zero": above,
                "largest": max(found),
                "median": float(np.median(found)),
                "version": alone_version("jax_privacy"),
            }
        )
    return rows


# --- what runs after a plain installation ---------------------------------------------------------

ORACLES = "from pure_ldp.frequency_oracles import *; "
MULTI = "from multi_freq_ldpy.pure_frequency_oracles."
ALL_PURE = {
    "DE": ORACLES + "DEClient(1, 4).privatise(1)",
    "SUE, OUE": ORACLES + "UEClient(1, 4).privatise(1)",
    "LH": ORACLES + "[LHClient(1, 4).privatise(1) for _ in range(50)]",
    "Fast LH": ORACLES + "[FastLHClient(1, 4, 100).privatise(1) for _ in range(50)]",
    "HE": ORACLES + "HEClient(1, 4).privatise(1)",
    "HR": ORACLES + "HadamardResponseClient(1, 4, None).privatise(1)",
    "HM": ORACLES + "HadamardMechClient(1, 4, 1).privatise(1)",
    "CMS": ORACLES + "CMSClient(1, CMSServer(1, 8, 16).get_hash_funcs(), 16).privatise(1)",
    "PCS": ORACLES + "PCSClient(1, 8, 16, PCSServer(1, 8, 16).get_hash_funcs()).privatise(1)",
    "Sketch response": ORACLES
    + "SketchResponseClient(1, 16, SketchResponseServer(1, 8, 16).get_hash_funcs()).privatise(1)",
    "RAPPOR": ORACLES
    + "RAPPORClient(0.5, 8, RAPPORServer(0.5, 8, 2, 4).get_hash_funcs()).privatise(1)",
}
ALL_MULTI = {
    "GRR": MULTI + "GRR import GRR_Client as c; c(0, 4, 1.0)",
    "UE": MULTI + "UE import UE_Client as c; c(0, 4, 1.0)",
    "LH": MULTI + "LH import LH_Client as c; [c(0, 4, 1.0) for _ in range(50)]",
    "SS": MULTI + "SS import SS_Client as c; c(0, 4, 1.0)",
    "HE": MULTI + "HE import HE_Client as c; c(0, 4, 1.0)",
    "ADP": MULTI + "ADP import ADP_Client as c; c(0, 4, 1.0)",
    "L-LH": "from multi_freq_ldpy.long_freq_est.L_LH import L_LH_Client as c; "
    "[c(0, 4, 2.0, 1.0) for _ in range(50)]",
}
PLAIN = (
    ("pure-ldp", (), ALL_PURE),
    ("pure-ldp", ("scikit-learn", "statsmodels"), ALL_PURE),
    ("multi-freq-ldpy", (), ALL_MULTI),
    ("opendp", (), {"import": "import opendp.prelude"}),
    ("diffprivlib", (), {"import": "import diffprivlib.mechanisms"}),
    ("jax-privacy", (), {"import": "from jax_privacy import auditing"}),
)


def installs(pinned: dict[str, str]) -> list[dict[str, Any]]:
    """Install each release alone, with the newest versions it allows, and try its parts."""
    tool = uv()
    if tool is None:
        return []
    rows = []
    for library, more, probes in PLAIN:
        with tempfile.TemporaryDirectory() as folder:
            python = Path(folder) / "venv" / "bin" / "python"
            base = getattr(sys, "_base_executable", sys.executable)
            subprocess.run(
                [tool, "venv", "--quiet", "--python", base, Path(folder) / "venv"], check=True
            )
            wanted = [f"{library}=={pinned[library]}", *more]
            pip = [tool, "pip", "install", "--quiet", "--python", python, *wanted]
            # From elsewhere: the project's own caps are not those of a plain installation.
            subprocess.run(pip, cwd=folder, check=True)
            parts = []
            for part, code in probes.items():
                done = subprocess.run(
                    [python, "-c", code], cwd=folder, capture_output=True, text=True
                )
                last = (done.stderr.strip().splitlines() or [""])[-1]
                error = "" if done.returncode == 0 else last.split(" (/")[0][:160]
                parts.append({"part": part, "code": code, "error": error})
            rows.append(
                {
                    "library": library,
                    "version": pinned[library],
                    "added": list(more),
                    "beside": beside(python),
                    "parts": parts,
                }
            )
    return rows


def beside(python: Path) -> dict[str, str]:
    """Versions, in another environment, of the packages that decide what runs."""
    code = (
        "import importlib.metadata as m, json; n = {d.metadata['Name'].lower(): d.version "
        "for d in m.distributions()}; print(json.dumps(n))"
    )
    found = json.loads(subprocess.run([python, "-c", code], capture_output=True, check=True).stdout)
    return {name: found[name] for name in BESIDE if name in found}


# --- the whole ------------------------------------------------------------------------------------


def version(name: str) -> str:
    return importlib.metadata.version(name)


def alone_version(name: str) -> str:
    """Version of a package in .venv-peers/alone."""
    for found in importlib.metadata.distributions(path=[str(ALONE)]):
        if found.metadata["Name"].lower().replace("-", "_") == name:
            return found.version
    raise LookupError(f"{name} is not in {ALONE.name}/: run `make peers`")


def record(case: Case) -> dict[str, Any]:
    """Draw and audit one case; the row that is stored."""
    start = time.perf_counter()
    drawn = draw_alone(case) if case.alone else draw(case)
    found = audit(case, drawn)
    stop = found["rejected_at"]
    text = "not rejected" if stop is None else f"rejected after {stop}"
    print(
        f"{case.id:38} ε = {drawn['epsilon']:.3f}  {text:22} half: {found['half_rejected_at']}"
        f"  ε ≥ {found['epsilon_low']:.3f}  ({time.perf_counter() - start:.1f} s)",
        flush=True,
    )
    return {
        "id": case.id,
        "library": case.library,
        "version": case.alone or version(case.library),
        "mechanism": case.mechanism,
        "setup": case.setup,
        "call": case.call,
        "inputs": list(case.inputs),
        "score": case.score,
        "claim": case.claim,
        "epsilon": drawn["epsilon"],
        "delta": drawn["delta"],
        "seed": case.seed,
        "pairs": case.pairs,
        **found,
    }


def refuse_other_versions() -> None:
    """Stop unless both environments hold exactly what is locked."""
    from sync_env import pins

    for name, found in zip(LOCKS, (None, [str(ALONE)]), strict=True):
        path = {} if found is None else {"path": found}
        here = {
            each.metadata["Name"].lower().replace("_", "-"): each.version
            for each in importlib.metadata.distributions(**path)
        }
        locked = dict(
            line.split(" ;")[0].split("==")
            for line in pins((ROOT / f"{name}.lock").read_text(encoding="utf-8"))
        )
        wrong = {key: here.get(key) for key in locked if here.get(key) != locked[key].strip()}
        if wrong:
            sys.exit(f"not the versions of {name}.lock: {wrong}; run `make peers`")


def run(only: str | None) -> None:
    """Audit everything and write the file, or some and print."""
    refuse_other_versions()
    cases = [case for case in all_cases() if only is None or only in case.id]
    start = time.perf_counter()
    rows = [record(case) for case in cases]
    if only is not None:
        return
    versions = {name: version(name) for name in AUDITED if name != "jax-privacy"}
    versions["jax-privacy"] = alone_version("jax_privacy")
    whole = {
        "made": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "audited": versions,
        "beside": {name: version(name) for name in BESIDE},
        "level": LEVEL,
        "cases": rows,
        "counts": counts(),
        "conversions": conversions(),
        "seeds": seeds(),
        "bounds": null_bounds(),
        "installs": installs(versions),
    }
    text = json.dumps(rounded(whole), indent=1, ensure_ascii=False) + "\n"
    partial = RESULTS.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(RESULTS)
    print(f"{RESULTS.relative_to(ROOT)} written after {time.perf_counter() - start:.0f} s")


def rounded(value: Any) -> Any:
    """Six significant digits everywhere, so that the file stays small and readable."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return value


def main() -> None:
    parser = argparse.ArgumentParser(description="audit released privacy libraries")
    parser.add_argument("action", choices=["lock", "setup", "run", "draw"])
    parser.add_argument("case", nargs="?", help="with draw: the id of one case")
    parser.add_argument(
        "--only", help="with run: cases whose id holds this text; nothing is written"
    )
    options = parser.parse_args()
    if options.action == "lock":
        lock()
    elif options.action == "setup":
        setup()
    elif options.action == "run":
        run(options.only)
    else:
        case = next(case for case in all_cases() if case.id == options.case)
        print(json.dumps(draw(case) | {"version": version(case.library)}))


if __name__ == "__main__":
    main()
