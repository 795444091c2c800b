"""TensorBoard's event files hold the log's numbers, as float32, and a run that went on has each step once."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from tbparse import SummaryReader

FOLDER = Path(os.environ["CASES"]) / "tfevents"


@pytest.mark.parametrize("name", ["cut", "begun-late"])
def test_tbparse_reads_the_numbers_of_the_log(name):
    log = json.loads((FOLDER / "log.json").read_text())
    scalars = SummaryReader(str(FOLDER / name)).scalars
    want = {(step, tag): np.float32(value) for step, values in enumerate(log) for tag, value in values.items()}
    got = list(zip(scalars["step"], scalars["tag"], scalars["value"]))
    assert len(got) == len(want)
    for step, tag, value in got:
        assert np.float32(value) == want[(step, tag)], (step, tag)
