import ast
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "pipeline"


def imports() -> dict[str, set[str]]:
    """Return what each module of the package imports, wherever the import stands."""
    found: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
        read: set[str] = set()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                read |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                read |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        found[name.removesuffix(".__init__")] = read
    return found


def test_no_module_imports_itself_by_a_detour() -> None:
    modules = imports()
    own = {name: (read & modules.keys()) - {name} for name, read in modules.items()}
    list(TopologicalSorter(own).static_order())


def test_stages_import_each_other_in_one_direction() -> None:
    modules = imports()
    stages: dict[str, set[str]] = defaultdict(set)
    for name, read in modules.items():
        stage = ".".join(name.split(".")[:2])
        for other in read & modules.keys():
            if ".".join(other.split(".")[:2]) != stage:
                stages[stage].add(".".join(other.split(".")[:2]))
    list(TopologicalSorter(stages).static_order())


def test_only_the_orchestration_knows_dagster_and_only_the_build_command_knows_it() -> None:
    for name, read in imports().items():
        inside = name.startswith("pipeline.orchestration") or name == "pipeline.definitions"
        knows_dagster = any(module.split(".")[0] == "dagster" for module in read)
        knows_orchestration = any(module.startswith("pipeline.orchestration") for module in read)
        assert not knows_dagster or inside, name
        assert not knows_orchestration or inside or name == "pipeline.cli", name


def test_the_six_modules_of_the_readme_are_there() -> None:
    readme = (PACKAGE.parent / "README.md").read_text(encoding="utf-8")
    told = readme.partition("in six modules:")[2].partition("`pipeline/orchestration/`")[0]
    named = [part for part in told.split("`") if part.startswith("pipeline/")]
    assert len(named) == 6
    assert all((PACKAGE.parent / name).is_file() for name in named)
