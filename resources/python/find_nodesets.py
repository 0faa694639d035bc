"""Lists the Python nodesets under a folder from their syntax trees: `python -I find_nodesets.py FOLDER`.

The engine's way to agentcanvas_host/scan.py: one JSON line to file descriptor 3. Nothing that is found is imported.
"""

import importlib.util
import json
import os
import sys


def main():
    scan = load_scan()
    found = scan.scan_paths([os.path.abspath(sys.argv[1])])
    # Only a file that means to be a nodeset is worth a complaint.
    found["problems"] = [problem for problem in found["problems"] if mentions_nodeset(problem["file"])]
    with os.fdopen(3, "w", encoding="utf-8") as pipe:
        pipe.write(json.dumps(found) + "\n")


def load_scan():
    """Isolated mode has no folder of its own on the path."""
    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location("scan", os.path.join(here, "agentcanvas_host", "scan.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mentions_nodeset(path):
    try:
        with open(path, "rb") as source:
            return b"BaseNodeSet" in source.read()
    except OSError:
        return False


main()
