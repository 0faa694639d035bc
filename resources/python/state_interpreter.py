"""Says what a nodeset's `server_python` is where that is code: `python -I state_interpreter.py FILE CLASS`.

Imports the nodeset, in a process that does nothing else. Writes one JSON line to file descriptor 3.
"""

import json
import os
import sys


def main():
    # A folder that is trusted by its content must not be changed by looking at it.
    sys.dont_write_bytecode = True
    pipe = os.fdopen(3, "w", encoding="utf-8")
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = [here, os.path.dirname(os.path.abspath(sys.argv[1]))]
    from agentcanvas_host.nodeset_loader import import_nodeset

    try:
        found = getattr(import_nodeset(sys.argv[1], None, sys.argv[2]), "server_python", None)
        answer = {"server_python": None if found is None else str(found)}
    except BaseException as error:
        answer = {"error": str(error)}
    pipe.write(json.dumps(answer) + "\n")
    pipe.close()


main()
