"""Tests of the Python package: on the simulator, or with MCGEN_TEST_DEVICE=cuda on a GPU."""

import os

import pytest

DEVICE = os.environ.get("MCGEN_TEST_DEVICE", "cpu")
os.environ.setdefault("MCGEN_CACHE", "mem")
os.environ.setdefault("MCGEN_RECORDS", "")


@pytest.fixture(scope="session")
def context():
    import mcgen

    return mcgen.shared_context("sim" if DEVICE == "cpu" else "cuda:0")


@pytest.fixture(scope="session")
def device():
    return DEVICE
