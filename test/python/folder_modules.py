"""Exported folders have modules of the same names; a file of tests takes those of one folder."""

import sys

import pytest


def modules_of(folder):
    """A fixture: while the tests of a file run, its imports are the modules of this folder."""

    @pytest.fixture(scope="module", autouse=True)
    def modules():
        names = {file.stem for file in folder.glob("*.py")}
        forget(names)
        sys.path.insert(0, str(folder))
        yield
        sys.path.remove(str(folder))
        forget(names)

    return modules


def forget(names):
    for name in names:
        sys.modules.pop(name, None)
