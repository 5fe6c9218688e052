"""Writes the policy's document of each program named on standard input, one JSON object a line.

    python dump.py RUNTIME_DIR SECTION,… < names

For tests: the gateway gets documents from the executor itself.
"""

import ast
import json
import sys
import types
import warnings

package = types.ModuleType("_runtime")
package.__path__ = [sys.argv[1]]
sys.modules["_runtime"] = package
from _runtime import index

warnings.simplefilter("ignore")
sections = None if sys.argv[2] == "*" else sys.argv[2].split(",")
for line in sys.stdin:
    name = line.rstrip("\n")
    with open(name, encoding="utf-8", newline="") as file:
        text = file.read()
    document, _, _ = index.dump(ast.parse(text), text, sections)
    print(json.dumps({"name": name, "document": json.loads(document)}))
