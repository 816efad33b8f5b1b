"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest
from hypothesis import settings

# The same examples in every run; a weekly job may set LDPKV_FRESH to look for new ones.
settings.register_profile("same", derandomize=True, deadline=None, max_examples=50)
settings.register_profile("fresh", deadline=None, max_examples=500)
settings.load_profile("fresh" if os.environ.get("LDPKV_FRESH") else "same")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator named by the test, so that neither order nor other tests matter."""
    if os.environ.get("LDPKV_FRESH"):
        return np.random.default_rng()
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
