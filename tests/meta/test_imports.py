"""Who may import what, read from the source and from fresh processes."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "webfetch_core"
LIBRARIES = {"pluggy", "attrs", "cattrs", "structlog"}
# requests and what it brings: in the client alone, which is imported when the first request is made.
CLIENT = {"requests", "urllib3"}
# The extra "formats": in one module, inside a function.
FORMATS = {"markdown_it", "mdit_py_plugins"}
# What pulls models, where it is installed: in one module, when something is pulled.
HUB = {"huggingface_hub"}
HEAVY = (
    "requests",
    "urllib3",
    "lxml",
    "numpy",
    "trafilatura",
    "cattrs",
    "structlog",
    "torch",
    "pytest",
    "lmdb",
)


def imports(path: Path) -> Iterator[tuple[int, str, bool]]:
    """(line, module, whether only for type checkers) of every absolute import."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for part in block.body
        for node in ast.walk(part)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, id(node) in typing_only
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.lineno, node.module, id(node) in typing_only


def test_the_core_imports_the_standard_library_and_four_more() -> None:
    wrong = []
    for path in sorted(CORE.rglob("*.py")):
        where = path.relative_to(CORE)
        allowed = LIBRARIES | sys.stdlib_module_names
        if where.parts[0] == "runtime" and where.name.startswith("http"):
            allowed |= CLIENT
        if where == Path("runtime/models_hub.py"):
            allowed |= HUB
        if where == Path("cli/formats.py"):
            allowed |= FORMATS
        if where.parts[0] == "testing" and ("contracts" in where.parts or where.name == "plugin.py"):
            allowed |= {"pytest"}
        for line, module, _ in imports(path):
            if module.partition(".")[0] not in allowed:
                wrong.append(f"{where}:{line} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_plugins_import_the_api_alone() -> None:
    wrong = []
    for path in sorted((ROOT / "plugins").glob("*/src/*/**/*.py")):
        own = path.relative_to(ROOT / "plugins").parts[2]
        for line, module, _ in imports(path):
            top = module.partition(".")[0]
            front_end = own.startswith("webfetch_serve_") and module == "webfetch_core"
            if top == "webfetch_core" and module != "webfetch_core.api" and not front_end:
                wrong.append(
                    f"{path.relative_to(ROOT)}:{line} imports {module}: webfetch_core.api is the way"
                )
            elif top.startswith("webfetch_") and top not in (own, "webfetch_core"):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports another plugin: {module}")
    assert not wrong, "\n".join(wrong)


def test_tests_of_plugins_import_the_api_and_the_kit_alone() -> None:
    wrong = []
    for path in sorted((ROOT / "plugins").glob("*/tests/**/*.py")):
        own = f"webfetch_{path.relative_to(ROOT / 'plugins').parts[0]}"
        for line, module, _ in imports(path):
            allowed = ("webfetch_core.api", "webfetch_core.testing")
            core = module.startswith("webfetch_core") and module != "webfetch_core"
            if core and not module.startswith(allowed):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {module}")
            elif module.startswith("webfetch_") and not module.startswith(("webfetch_core", own)):
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports another plugin: {module}")
    assert not wrong, "\n".join(wrong)


def test_no_plugin_is_known_to_the_core() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {module}"
        for path in sorted(CORE.rglob("*.py"))
        for line, module, _ in imports(path)
        if module.startswith("webfetch_") and not module.startswith("webfetch_core")
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "statement", ["import webfetch_core", "import webfetch_core.api", "import webfetch_core.testing",
                  "import webfetch_core.app", "import webfetch_core.cli", "import webfetch_core.tool.default"]
)  # fmt: skip
def test_importing_the_core_is_light(statement: str) -> None:
    code = (
        f"import sys, json; old = set(sys.modules); {statement}; print(json.dumps([*set(sys.modules) - old]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    heavy = {m.partition(".")[0] for m in json.loads(run.stdout)} & set(HEAVY)
    assert not heavy, f"{statement} pulls in {', '.join(sorted(heavy))}"
