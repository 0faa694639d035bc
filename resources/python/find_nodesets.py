"""Lists the Python nodesets under a folder from their syntax trees: `python -I find_nodesets.py FOLDER`.

Invariant: nothing that is found is imported or run. Writes one JSON line to file descriptor 3 (or standard output).
"""

import ast
import json
import os
import sys

DEEPEST = 3
SKIPPED = {"node_modules", "__pycache__", "site-packages", "tests"}


def main():
    root = os.path.abspath(sys.argv[1])
    found = []
    for path in python_files(root):
        found.extend(nodesets_in(path))
    line = json.dumps({"nodesets": found}) + "\n"
    try:
        with os.fdopen(3, "w", encoding="utf-8") as pipe:
            pipe.write(line)
    except OSError:
        sys.stdout.write(line)


def python_files(root):
    for folder, folders, files in os.walk(root):
        depth = os.path.relpath(folder, root).count(os.sep) + (folder != root)
        folders[:] = sorted(name for name in folders if keep(name)) if depth < DEEPEST else []
        for name in sorted(files):
            if name.endswith(".py") and not name.startswith("test_"):
                yield os.path.join(folder, name)


def keep(name):
    return not name.startswith(".") and name not in SKIPPED and not name.endswith("venv")


def nodesets_in(path):
    try:
        with open(path, "rb") as source:
            tree = ast.parse(source.read(), path)
    except (OSError, SyntaxError, ValueError) as error:
        # Only a file that means to be a nodeset is worth a complaint.
        return [{"file": path, "error": f"{type(error).__name__}: {error}"}] if mentions_nodeset(path) else []
    constants = literals_of(tree.body, {})
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return [entry for node in classes for entry in describe(node, path, constants)]


def mentions_nodeset(path):
    try:
        with open(path, "rb") as source:
            return b"BaseNodeSet" in source.read()
    except OSError:
        return False


def describe(node, path, constants):
    if not any(base_name(base) == "BaseNodeSet" for base in node.bases):
        return
    values = literals_of(node.body, constants)
    name = values.get("name")
    if not isinstance(name, str) or not name:
        return
    entry = {"file": path, "class": node.name, "name": name}
    python = expression_of(node.body, "server_python")
    if python is not None:
        entry["server_python"] = interpreter_of(python, constants)
    environment = values.get("server_env")
    if isinstance(environment, dict):
        entry["server_env"] = {str(key): str(value) for key, value in environment.items()}
    yield entry


def base_name(base):
    return base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")


def assignments(body):
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    yield target.id, statement.value
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.value:
            yield statement.target.id, statement.value


def literals_of(body, known):
    values = dict(known)
    for name, value in assignments(body):
        try:
            values[name] = values[value.id] if isinstance(value, ast.Name) else ast.literal_eval(value)
        except (ValueError, KeyError, TypeError, SyntaxError, MemoryError, RecursionError):
            values.pop(name, None)
    return values


def expression_of(body, wanted):
    found = None
    for name, value in assignments(body):
        if name == wanted:
            found = value
    return found


def interpreter_of(value, constants):
    """A literal, `conda_env_python("x")` as conda:x, `os.environ.get(...)` resolved; else null: code we do not run."""
    try:
        literal = ast.literal_eval(value)
        return literal if isinstance(literal, str) else None
    except (ValueError, TypeError, SyntaxError):
        pass
    if isinstance(value, ast.Name):
        known = constants.get(value.id)
        return known if isinstance(known, str) else None
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or):
        return next(filter(None, (interpreter_of(each, constants) for each in value.values)), None)
    if not isinstance(value, ast.Call) or not value.args:
        return None
    called = base_name(value.func)
    arguments = [interpreter_of(argument, constants) for argument in value.args]
    if called == "conda_env_python" and arguments[0]:
        return "conda:" + arguments[0]
    if called in ("get", "getenv") and arguments[0]:
        return os.environ.get(arguments[0]) or (arguments[1] if len(arguments) > 1 else None)
    return None


main()
