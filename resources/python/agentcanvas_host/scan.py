"""Lists the nodesets in folders and files by their syntax tree: `python -I scan.py PATH...` prints JSON.

Nothing that is found is imported or run. Stands alone: isolated mode has no package beside it.
"""

import ast
import json
import os
import re
import sys
from typing import Any, Dict, List, Optional, Tuple

MAX_FILE_BYTES = 4 << 20
MAX_DEPTH = 3
SKIPPED_FOLDERS = {"__pycache__", "node_modules", "site-packages", "tests"}
NODESET_BASES = {"BaseNodeSet"}
LITERALS = (
    "name",
    "description",
    "parallelism",
    "server_image",
    "server_env",
    "server_spawner",
    "server_gpu",
    "server_mounts",
    "server_user",
    "server_cpus",
    "server_resources",
    "server_placement",
    "default_per_step_budget_sec",
    "startup_timeout",
    "expected_ram_mb",
    "expected_vram_mb",
)
SCRIPT_BLOCK = re.compile(r"(?m)^# /// script\s*$\n(?P<content>(^#(| .*)$\n)+)^# ///\s*$")


class Unresolved(Exception):
    """An expression that needs running to be known."""


def scan_paths(paths: List[str]) -> Dict[str, Any]:
    nodesets: List[Dict[str, Any]] = []
    problems: List[Dict[str, Any]] = []
    seen = set()
    for path in paths:
        for file in python_files(os.path.abspath(path)):
            if file in seen:
                continue
            seen.add(file)
            found, problem = scan_file(file)
            nodesets.extend(found)
            if problem is not None:
                problems.append({"file": file, "error": problem})
    return {"nodesets": nodesets, "problems": problems}


def python_files(path: str, depth: int = 0) -> List[str]:
    """Candidates in a stable order: a package counts as its __init__.py, loose files as themselves."""
    if os.path.isfile(path):
        return [path] if path.endswith(".py") else []
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return []
    if "__init__.py" in names and depth > 0:
        return [os.path.join(path, "__init__.py")]
    files: List[str] = []
    for name in names:
        entry = os.path.join(path, name)
        if name.startswith((".", "_")) or name in SKIPPED_FOLDERS or name.endswith("venv"):
            continue
        if os.path.isdir(entry) and depth < MAX_DEPTH:
            files.extend(python_files(entry, depth + 1))
        elif name.endswith(".py") and not name.startswith("test_"):
            files.append(entry)
    return files


def scan_file(file: str) -> Tuple[List[Dict[str, Any]], Optional[str]]:
    try:
        if os.path.getsize(file) > MAX_FILE_BYTES:
            return [], f"larger than {MAX_FILE_BYTES} bytes; not read"
        with open(file, "rb") as handle:
            source = handle.read()
        tree = ast.parse(source, file)
    except SyntaxError as error:
        return [], f"SyntaxError: line {error.lineno}: {error.msg}"
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return [], f"{type(error).__name__}: {error}"
    text = source.decode("utf-8", "replace")
    if not any(isinstance(node, ast.ClassDef) for node in tree.body):
        return [], None
    scope = Scope(tree.body, file)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    described = [
        describe(node, Members(classes, scope), file, text) for node in classes.values() if is_nodeset(node, classes)
    ]
    return [nodeset for nodeset in described if nodeset is not None], None


def is_nodeset(node: ast.ClassDef, classes: Dict[str, ast.ClassDef], depth: int = 0) -> bool:
    for base in node.bases:
        name = base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
        if name in NODESET_BASES:
            return True
        if depth < 10 and name in classes and classes[name] is not node and is_nodeset(classes[name], classes, depth + 1):
            return True
    return False


class Members:
    """Class members including those of base classes in the same file."""

    def __init__(self, classes: Dict[str, ast.ClassDef], scope: "Scope") -> None:
        self.scope = scope
        self._classes = classes

    def of(self, node: ast.ClassDef, depth: int = 0) -> Dict[str, ast.expr]:
        found: Dict[str, ast.expr] = {}
        for base in reversed(node.bases):
            parent = self._classes.get(getattr(base, "id", ""))
            if parent is not None and parent is not node and depth < 10:
                found.update(self.of(parent, depth + 1))
        found.update(assignments(node.body))
        return found


def describe(node: ast.ClassDef, known: Members, file: str, text: str) -> Optional[Dict[str, Any]]:
    members = known.of(node)
    scope = known.scope
    form: Dict[str, Any] = {"file": file, "class_name": node.name, "line": node.lineno}
    for name in LITERALS:
        if name in members:
            try:
                form[name] = scope.value(members[name])
            except Unresolved:
                form.setdefault("unresolved", []).append(name)
    if not isinstance(form.get("name"), str):
        return None
    form["parallelism"] = "replicated" if form.get("parallelism") == "replicated" else "shared"
    form["has_env_panel"] = "env_panel" in members and not is_none(members["env_panel"])
    form["server_python"] = interpreter(members.get("server_python"), scope)
    form["script"] = script_block(text)
    form["imports"] = imports(file)
    return form


def interpreter(expression: Optional[ast.expr], scope: "Scope") -> Dict[str, Any]:
    """How `server_python` is stated: none, a value, or an expression that would have to be run."""
    if expression is None or is_none(expression):
        return {"kind": "default"}
    try:
        value = scope.value(expression)
    except Unresolved as reason:
        return {"kind": "expression", "reason": str(reason)}
    if isinstance(value, Environment):
        return {"kind": "conda", "environment": value.name, "variable": value.variable}
    return {"kind": "default"} if value is None else {"kind": "value", "value": str(value)}


def script_block(text: str) -> Optional[str]:
    """The TOML text of a PEP 723 block, or None."""
    if "# ///" not in text:
        return None
    match = SCRIPT_BLOCK.search(text.replace("\r\n", "\n"))
    if match is None:
        return None
    lines = match.group("content").splitlines(keepends=True)
    return "".join(line[2:] if line.startswith("# ") else line[1:] for line in lines)


def imports(file: str) -> List[str]:
    """Top-level names a file imports at its own level, for saying what is missing before it is started."""
    with open(file, "rb") as handle:
        tree = ast.parse(handle.read())
    names = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.split(".")[0])
    return sorted(names - {"__future__"})


def assignments(body: List[ast.stmt]) -> Dict[str, ast.expr]:
    found: Dict[str, ast.expr] = {}
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            if isinstance(statement.target, ast.Name):
                found[statement.target.id] = statement.value
    return found


def is_none(expression: ast.expr) -> bool:
    return isinstance(expression, ast.Constant) and expression.value is None


class Environment:
    """A conda environment, found by the resolver: `conda_env_python(name, variable)` whose variable is not set."""

    def __init__(self, name: str, variable: str) -> None:
        self.name = name
        self.variable = variable


class Scope:
    """Values of expressions as far as literals, module constants, the environment and paths go."""

    def __init__(self, body: List[ast.stmt], file: str) -> None:
        self._names = assignments(body)
        self._file = file
        self._open: set = set()

    def value(self, expression: ast.expr) -> Any:
        if isinstance(expression, ast.Constant):
            return expression.value
        if isinstance(expression, ast.Name):
            return self._named(expression.id)
        if isinstance(expression, ast.BoolOp):
            return self._either(expression)
        if isinstance(expression, (ast.Dict, ast.List, ast.Tuple)):
            return self._collection(expression)
        if isinstance(expression, ast.JoinedStr):
            return "".join(str(self.value(part)) for part in expression.values)
        if isinstance(expression, ast.FormattedValue):
            return self.value(expression.value)
        if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Add):
            return self._sum(expression)
        if isinstance(expression, ast.Call):
            return self._call(expression)
        raise Unresolved(f"{type(expression).__name__} in line {expression.lineno}")

    def _named(self, name: str) -> Any:
        if name == "__file__":
            return self._file
        if name not in self._names or name in self._open:
            raise Unresolved(f"the name {name}")
        self._open.add(name)
        try:
            return self.value(self._names[name])
        finally:
            self._open.discard(name)

    def _either(self, expression: ast.BoolOp) -> Any:
        value: Any = None
        for part in expression.values:
            value = self.value(part)
            if bool(value) == isinstance(expression.op, ast.Or):
                return value
        return value

    def _collection(self, expression: Any) -> Any:
        if isinstance(expression, ast.Dict):
            if any(key is None for key in expression.keys):
                raise Unresolved("a dict that includes another")
            return {self.value(key): self.value(value) for key, value in zip(expression.keys, expression.values)}
        return [self.value(item) for item in expression.elts]

    def _sum(self, expression: ast.BinOp) -> Any:
        left, right = self.value(expression.left), self.value(expression.right)
        if isinstance(left, str) and isinstance(right, str):
            return left + right
        raise Unresolved("a sum of other things than texts")

    def _call(self, call: ast.Call) -> Any:
        name = dotted_name(call.func)
        arguments = [self.value(argument) for argument in call.args]
        named = {keyword.arg: self.value(keyword.value) for keyword in call.keywords if keyword.arg}
        if name in ("os.environ.get", "environ.get", "os.getenv", "getenv"):
            default = arguments[1] if len(arguments) > 1 else named.get("default")
            return os.environ.get(str(arguments[0]), default)
        if name.split(".")[-1] == "conda_env_python":
            environment = arguments[0] if arguments else named.get("env_name")
            variable = arguments[1] if len(arguments) > 1 else named.get("env_var")
            return os.environ.get(str(variable)) or Environment(str(environment), str(variable))
        functions = {
            "os.path.join": os.path.join,
            "os.path.dirname": os.path.dirname,
            "os.path.abspath": os.path.abspath,
            "os.path.realpath": os.path.realpath,
            "os.path.normpath": os.path.normpath,
            "os.path.expanduser": os.path.expanduser,
            "str": str,
        }
        if name in functions and not named and all(isinstance(argument, str) for argument in arguments):
            return functions[name](*arguments)
        raise Unresolved(f"a call of {name or 'something'} in line {call.lineno}")


def dotted_name(expression: ast.expr) -> str:
    if isinstance(expression, ast.Name):
        return expression.id
    if isinstance(expression, ast.Attribute):
        outer = dotted_name(expression.value)
        return f"{outer}.{expression.attr}" if outer else ""
    return ""


if __name__ == "__main__":
    sys.setrecursionlimit(3000)
    sys.stdout.buffer.write(json.dumps(scan_paths(sys.argv[1:])).encode("ascii") + b"\n")
