"""Every public name has a docstring, and the compiled part is described by its stub."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pleach

MODULES = (pleach, pleach.atsp, pleach.clique, pleach.cluster, pleach.flowshop, pleach.knapsack, pleach.native, pleach.qap, pleach.queens, pleach.uts)


def test_every_public_name_has_a_docstring() -> None:
    silent = []
    for module in MODULES:
        assert module.__doc__
        for name in module.__all__:
            value = getattr(module, name)
            if not (inspect.isfunction(value) or inspect.isbuiltin(value) or inspect.isclass(value)):
                continue
            if not value.__doc__ or value.__doc__.startswith(f"{name}("):
                silent.append(f"{module.__name__}.{name}")
            for inner, member in vars(value).items() if inspect.isclass(value) else ():
                is_code = inspect.isfunction(member) or isinstance(member, property)
                if not inner.startswith("_") and is_code and not inspect.getdoc(member):
                    silent.append(f"{module.__name__}.{name}.{inner}")
    assert silent == []


def test_the_stub_names_what_the_compiled_part_has() -> None:
    stub = (Path(pleach.__file__).parent / "_pleach.pyi").read_text()
    names = [name for name in dir(pleach._pleach) if not name.startswith("_")]
    assert len(names) > 10
    assert [name for name in names if not re.search(rf"^(def|class) {name}\b", stub, re.MULTILINE)] == []


def test_files_of_the_package_say_what_they_are_for() -> None:
    root = Path(__file__).parent.parent
    files = [*Path(pleach.__file__).parent.glob("*.py"), *root.glob("tests/*.py"), *root.glob("examples/*.py")]
    assert len(files) > 20
    for file in files:
        text = file.read_text()
        assert text.startswith('"""') and len(text.splitlines()) <= 500, file
