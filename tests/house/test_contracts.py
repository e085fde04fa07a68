"""Who may import what: the layers of docs/design.md, read from the sources.

A module counts as imported by any import statement, also one inside a function or for type checkers only, by
a string that names it, and by its line in a table (`load_table`): a module loaded through its name is no way
around a contract.
"""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import sources

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "netdyno"

LAYERS = (
    "errors",
    "values",
    "stats",
    "ports",
    "hosts",
    "devices",
    "modifiers",
    "methods",
    "plan",
    "verdict",
    "store",
    "imports",
    "profiles",
    "testers",
    "calibration",
    "campaign",
    "reports",
    "cli",
)
"""Bottom first: a package imports only itself and those before it."""

NOT: Mapping[str, tuple[str, ...]] = {
    "stats": ("plan",),
    "devices": ("stats",),
    "methods": ("ports", "devices"),
    "verdict": ("ports", "devices", "modifiers"),
    "store": ("ports", "devices", "modifiers", "methods", "plan"),
    "imports": ("ports", "devices", "modifiers", "plan"),
    "reports": ("ports", "devices", "modifiers", "methods", "imports", "testers", "campaign"),
}
"""Packages below one that it may not import all the same."""

ENGINE = "netdyno._engine"
NAMES_ENGINE = ("netdyno.testers", "netdyno.devices.speakers", "netdyno.hosts")
"""Packages that may name the engine: those that send and count, also on other hosts, and the carrier of
speakers on VLANs."""

ITS_TESTER = "netdyno.testers.netdyno"
DRIVES_IT = ("testers", "cli")
"""Packages that may name the engine's own tester: the others know testers by their table alone."""

ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    # A module of somebody else's, or of Python's: the packages that may import it.
    "sqlite3": ("store",),
    "ruamel": ("plan",),
    "vl_convert": ("reports",),
    "jinja2": ("devices", "reports"),
    "click": ("cli",),
    "rich": ("cli", "reports"),
    "socket": ("ports", "devices"),
    "subprocess": ("ports", "hosts", "devices", "profiles"),
    "multiprocessing": ("campaign",),
    "distributed": ("hosts", "campaign"),
    "dask": ("hosts", "campaign"),
    "time": ("ports", "hosts", "devices", "store", "testers", "calibration", "campaign", "cli"),
}

LOADS_BY_NAME = (
    "values/table.py",
    "reports/__init__.py",
    "reports/comparisons/__init__.py",
    "testers/__init__.py",
    "testers/netdyno/engine.py",
    "devices/drivers/__init__.py",
    "devices/telemetry/api.py",
    "devices/extras.py",
    "_engine.py",
    # A profile of the user's, in a process of its own.
    "profiles/stl/load.py",
)
"""Where a table of names is loaded; each name in it is a string, and so counted."""

LOADERS = (
    *("import_module", "__import__", "exec", "eval", "spec_from_file_location", "find_spec"),
    *("resolve_name", "run_module", "run_path", "load_entry"),
)
"""What loads a module by its name: only the files of `LOADS_BY_NAME` mention one of them, under any name."""

TABLE = "load_table"
"""Loads the modules in a package's own table: everybody may call it, with names that can be read."""


def modules(package: Path) -> dict[str, Path]:
    """Every module below a package's folder, by its dotted name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call in a file, by the name of what is called."""
    for node in sources.nodes(path):
        if isinstance(node, ast.Call):
            yield sources.callee(node), node


def root(node: ast.Attribute) -> str:
    """`netdyno` of `netdyno.errors.NAME`; empty if the first part is no name."""
    first: ast.expr = node
    while isinstance(first, ast.Attribute):
        first = first.value
    return first.id if isinstance(first, ast.Name) else ""


def listed(tree: ast.Module, call: ast.Call) -> list[tuple[int, str]] | None:
    """Lines and names of the modules in a table that is loaded; None if they cannot be read from the file.

    A table has the package's own modules: `load_table(__name__, "ENTRY", Type, MODULES)`.
    """
    match call.args:
        case [ast.Name(id="__name__"), _, _, ast.Name(id=name)]:
            found = [
                node.value
                for node in tree.body
                if isinstance(node, ast.Assign) and [ast.unparse(one) for one in node.targets] == [name]
            ]
        case [ast.Name(id="__name__"), _, _, there]:
            found = [there]
        case _:
            return None
    match found:
        case [ast.Tuple(elts=names)]:
            texts = [(one.lineno, one.value) for one in names if isinstance(one, ast.Constant)]
            is_plain = len(texts) == len(names) and all(str(text).isidentifier() for _, text in texts)
            return [(line, str(text)) for line, text in texts] if is_plain else None
    return None


def imported(module: str, path: Path, known: Mapping[str, Path]) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every module that a file imports, names in a string, or has in a table."""
    for name, call in calls(path):
        if name == TABLE:
            yield from ((line, f"{module}.{one}") for line, one in listed(sources.tree(path), call) or ())
    for node in sources.nodes(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}:{node.lineno}: a relative import"
            assert node.module is not None
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield node.lineno, inner if inner in known or inner == ENGINE else node.module
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in known or node.value == ENGINE:
                yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            first = node.values[0]
            if isinstance(first, ast.Constant) and str(first.value).startswith("netdyno."):
                yield node.lineno, str(first.value).rstrip(".")
        elif isinstance(node, ast.Attribute) and root(node) == "netdyno":
            # `import netdyno.errors` binds `netdyno`, and with it every package that is loaded.
            whole = ast.unparse(node)
            if whole in known or whole == ENGINE:
                yield node.lineno, whole


def every_import(package: Path) -> dict[str, list[tuple[int, str]]]:
    """What each module of a package imports."""
    return own_imports() if package == PACKAGE else _every_import(package)


@cache
def own_imports() -> dict[str, list[tuple[int, str]]]:
    """Those of the project itself, which no test changes: read once."""
    return _every_import(PACKAGE)


def _every_import(package: Path) -> dict[str, list[tuple[int, str]]]:
    known = modules(package)
    return {module: list(imported(module, path, known)) for module, path in known.items()}


def mentions(path: Path) -> Iterator[tuple[ast.AST, str]]:
    """Every name in a file: of a variable, an attribute, an import, or a whole string."""
    for node in sources.nodes(path):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                yield node, name
            case ast.ImportFrom(names=several):
                yield from ((node, one.name) for one in several)


def loads_by_name(path: Path) -> Iterator[int]:
    """Lines of a file that load a module by its name, or that hide what does."""
    called = set()
    for name, call in calls(path):
        if name == TABLE:
            called.add(call.func)
            if listed(sources.tree(path), call) is None:
                yield call.lineno
    for node, name in mentions(path):
        is_import = isinstance(node, ast.ImportFrom)
        if name in LOADERS or (name == TABLE and node not in called and not is_import):
            yield getattr(node, "lineno", 0)
    for node in sources.nodes(path):
        match node:
            case ast.ImportFrom(names=several):
                yield from (node.lineno for one in several if one.name == TABLE and one.asname)
            case ast.Import(names=several):
                yield from (node.lineno for one in several if one.name == "netdyno" and one.asname)
            case ast.Attribute(value=ast.Name(id="sys"), attr="modules"):
                yield node.lineno


def layer(module: str) -> str:
    """`values` of `netdyno.values.load`; empty for `netdyno` itself."""
    return [*module.split("."), ""][1]


def violations(package: Path) -> list[str]:
    """Each import that breaks a rule, `campaign/run.py:3: imports netdyno.cli`."""
    imports = every_import(package)
    found = []
    for module, path in modules(package).items():
        own = layer(module)
        where = path.relative_to(package)
        for line, name in imports[module]:
            told = f"{where}:{line}: imports {name}"
            top = name.split(".")[0]
            if name == ENGINE:
                if not f"{module}.".startswith(tuple(f"{one}." for one in NAMES_ENGINE)):
                    found.append(told)
            elif f"{name}.".startswith(f"{ITS_TESTER}.") and own not in DRIVES_IT:
                found.append(told)
            elif top == "netdyno":
                other = layer(name)
                upward = own in LAYERS and other in LAYERS and LAYERS.index(other) > LAYERS.index(own)
                if upward or other in NOT.get(own, ()):
                    found.append(told)
            elif top in ELSEWHERE and own not in ELSEWHERE[top]:
                found.append(told)
        if str(where) not in LOADS_BY_NAME:
            found += [f"{where}:{line}: loads a module by its name" for line in loads_by_name(path)]
    return found


def test_every_layer_is_there_and_nothing_else() -> None:
    here = {path.stem if path.is_file() else path.name for path in PACKAGE.iterdir()}
    native = {"_engine", "_engine.abi3", "_level"}
    assert here - {"__pycache__", *native} == {*LAYERS, "__init__", "__main__", "py"}


def named() -> Iterator[str]:
    """Every module of the package that a contract names."""
    packages = (LAYERS, DRIVES_IT, NOT, *NOT.values(), *ELSEWHERE.values())
    yield from (f"netdyno.{one}" for several in packages for one in several)
    yield from (*NAMES_ENGINE, ITS_TESTER)
    for name in LOADS_BY_NAME:
        yield "netdyno." + name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def unmatched(package: Path) -> list[str]:
    """What contracts name and the package does not have: such a contract keeps nothing."""
    known = modules(package)
    used = {name.split(".")[0] for found in every_import(package).values() for _, name in found}
    engine = [] if package.joinpath("_engine.pyi").is_file() else [ENGINE]
    missing = [name for name in named() if name not in known]
    return [*engine, *dict.fromkeys(missing), *(name for name in ELSEWHERE if name not in used)]


def test_every_contract_matches_a_file() -> None:
    assert unmatched(PACKAGE) == []


@pytest.mark.parametrize(
    ("contract", "names_a_missing_module"),
    [
        ("LAYERS", (*LAYERS, "gone")),
        ("NOT", {**NOT, "gone": ("values",)}),
        ("NOT", {**NOT, "stats": ("gone",)}),
        ("DRIVES_IT", (*DRIVES_IT, "gone")),
        ("ELSEWHERE", {**ELSEWHERE, "click": ("gone",)}),
        ("ELSEWHERE", {**ELSEWHERE, "gone": ("cli",)}),
        ("NAMES_ENGINE", (*NAMES_ENGINE, "netdyno.gone")),
        ("ITS_TESTER", "netdyno.testers.gone"),
        ("LOADS_BY_NAME", (*LOADS_BY_NAME, "gone/__init__.py")),
    ],
)
def test_a_contract_that_names_a_missing_module_is_found(
    contract: str, names_a_missing_module: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), contract, names_a_missing_module)
    assert [name.split(".")[-1] for name in unmatched(PACKAGE)] == ["gone"]


def test_a_package_that_was_moved_away_is_found(tmp_path: Path) -> None:
    planted(tmp_path, "cli", "")
    package = tmp_path / "netdyno"
    before = unmatched(package)
    shutil.rmtree(package / "stats")
    assert set(unmatched(package)) - set(before) == {"netdyno.stats"}


TABLES = {
    "netdyno.devices": "netdyno.devices.linux",
    "netdyno.devices.emulated": "netdyno.devices.emulated.plain",
    "netdyno.imports.formats": "netdyno.imports.formats.ipng",
    "netdyno.methods": "netdyno.methods.ramp",
    "netdyno.modifiers": "netdyno.modifiers.routing",
    "netdyno.ports.backends": "netdyno.ports.backends.memif",
}
"""Packages with a table of their own modules, and one of these."""


def test_each_module_of_a_table_counts_as_imported() -> None:
    known = modules(PACKAGE)
    for package, one in TABLES.items():
        found = {name for _, name in imported(package, known[package], known)}
        assert one in found
        assert {name for name in found if name.startswith(f"{package}.")} <= set(known)


def test_no_module_breaks_a_contract() -> None:
    assert not violations(PACKAGE), "\n".join(violations(PACKAGE))


WAYS = (
    "import {module}",
    "import {module} as other",
    "from {module} import name",
    "def late() -> None:\n    import {module}",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from {module} import name",
    "import netdyno.errors\nNAME = {module}.name",
    "from importlib import import_module\nNAME = '{module}'\nimport_module(NAME)",
)
"""How a module may be imported where its name stands in the file."""

DISGUISES = (
    "import netdyno as other\nNAME = other.name",
    "from importlib import import_module\nimport_module('{module}')",
    "from importlib import import_module\nNAME = '{module}'\nimport_module(NAME)",
    "from importlib import import_module as other\nother('{module}'.lower())",
    "import importlib\nimportlib.import_module('.' + '{module}'[8:], 'netdyno')",
    "import importlib\ngetattr(importlib, 'import_module')(NAME)",
    "import importlib\nload = importlib.import_module\nload(NAME)",
    "__import__('{module}')",
    "__import__('netdyno', fromlist=[NAME])",
    "import builtins\ngetattr(builtins, '__import__')(NAME)",
    "exec('import ' + NAME)",
    "import sys\nsys.modules[NAME]",
    "import pkgutil\npkgutil.resolve_name(NAME)",
    "import runpy\nrunpy.run_module(NAME)",
    "import importlib.util\nimportlib.util.find_spec(NAME)",
    "from netdyno.values.table import load_entry\nload_entry('{module}', 'ENTRY', int)",
    "from netdyno.values.table import load_table\nload_table('{module}', 'ENTRY', int, ('one',))",
    "from netdyno.values.table import load_table\nfetch = load_table\nfetch('{module}', 'ENTRY', int, ())",
)
"""How a module may be loaded by a name: ruled out whatever the module is."""


def planted(folder: Path, owner: str, text: str) -> list[str]:
    """The violations in a package of empty layers, one of which has a module with this text."""
    package = folder / "netdyno"
    for name in LAYERS:
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").touch()
    (package / "testers" / "netdyno").mkdir()
    (package / "testers" / "netdyno" / "__init__.py").touch()
    (package / owner / "planted.py").write_text(text)
    return [one for one in violations(package) if one.startswith(f"{owner}/planted.py")]


PLAIN = WAYS[0]


@pytest.mark.parametrize(
    ("owner", "above", "way"),
    [
        *((owner, above, PLAIN) for owner, above in pairwise(LAYERS)),
        *((*LAYERS[:2], way) for way in WAYS[1:]),
    ],
)
def test_an_import_of_the_layer_above_is_found(owner: str, above: str, way: str, tmp_path: Path) -> None:
    assert planted(tmp_path, owner, way.format(module=f"netdyno.{above}"))


@pytest.mark.parametrize("way", DISGUISES)
def test_a_load_by_a_name_is_found(way: str, tmp_path: Path) -> None:
    assert planted(tmp_path, "plan", way.format(module="netdyno.cli"))
    assert planted(tmp_path / "outside", "plan", way.format(module="sqlite3"))


@pytest.mark.parametrize(
    "text",
    [
        "load_table(PACKAGE, 'ENTRY', int, ('one',))",
        "load_table(__name__, 'ENTRY', int, NAMES)",
        "load_table(__name__, 'ENTRY', int, ('one', *NAMES))",
        "load_table(__name__, 'ENTRY', int, ('..cli',))",
        "NAMES = ['one']\nload_table(__name__, 'ENTRY', int, NAMES)",
        "load_table(*GIVEN)",
        "load_entry(PACKAGE + '.one', 'ENTRY', int)",
        "from netdyno.values.table import load_table as fetch\nfetch(PACKAGE, 'ENTRY', int, ('one',))",
        "from importlib import import_module as fetch\nfetch(PACKAGE)",
    ],
)
def test_a_table_of_computed_names_is_found(text: str, tmp_path: Path) -> None:
    assert planted(tmp_path, "plan", text)


def test_a_table_of_the_packages_own_modules_is_allowed(tmp_path: Path) -> None:
    assert not planted(tmp_path, "plan", "load_table(__name__, 'ENTRY', int, ('one', 'two'))")


@pytest.mark.parametrize(("owner", "other"), [(owner, other) for owner in NOT for other in NOT[owner]])
def test_an_import_that_is_ruled_out_below_is_found(owner: str, other: str, tmp_path: Path) -> None:
    assert planted(tmp_path, owner, PLAIN.format(module=f"netdyno.{other}"))


@pytest.mark.parametrize(("below", "owner"), list(pairwise(LAYERS)))
def test_an_import_of_the_layer_below_is_allowed(below: str, owner: str, tmp_path: Path) -> None:
    assert below in NOT.get(owner, ()) or not planted(tmp_path, owner, f"from netdyno.{below} import name")


@pytest.mark.parametrize(
    ("owner", "way"),
    [
        *((name, PLAIN) for name in LAYERS if name not in {"testers", "hosts"}),
        *(("cli", way) for way in WAYS[1:]),
    ],
)
def test_an_import_of_the_engine_is_found(owner: str, way: str, tmp_path: Path) -> None:
    assert planted(tmp_path, owner, way.format(module=ENGINE))


@pytest.mark.parametrize(
    ("owner", "way"),
    [*((name, PLAIN) for name in LAYERS if name not in DRIVES_IT), *(("plan", way) for way in WAYS[1:])],
)
def test_an_import_of_the_engines_tester_is_found(owner: str, way: str, tmp_path: Path) -> None:
    assert planted(tmp_path, owner, way.format(module=ITS_TESTER))


@pytest.mark.parametrize("module", ELSEWHERE)
def test_an_import_of_somebody_elses_module_is_found(module: str, tmp_path: Path) -> None:
    owner = next(name for name in LAYERS if name not in ELSEWHERE[module])
    assert planted(tmp_path, owner, f"import {module}")
    assert planted(tmp_path / "late", owner, f"def late() -> None:\n    from {module} import name")
    assert planted(tmp_path / "by-name", owner, f"__import__('{module}')")
    allowed = ELSEWHERE[module][0]
    assert not planted(tmp_path / "allowed", allowed, f"import {module}")
