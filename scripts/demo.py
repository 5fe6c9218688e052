#!/usr/bin/env python3
"""Shows three requests and their answers: a SymPy program, a figure, a refused program. Run by `make demo`."""
import json
import os
import sys
import urllib.request

PROGRAMS = [
    ("A SymPy program", "completed",
     "import sympy as sp\nx = sp.symbols('x')\nprint(sp.factor(x**4 - 1))\nprint(sp.integrate(sp.exp(-x**2), (x, -sp.oo, sp.oo)))\n"),
    ("A figure", "completed",
     "import numpy as np\nimport plotly.graph_objects as go\nx = np.linspace(0, 1, 5)\n"
     "fig = go.Figure(go.Scatter(x=x, y=x**2))\nfig.update_layout(title='A parabola')\nfig.show()\n"),
    ("A program that the policy refuses", "rejected",
     "import statistics\nprint(statistics.sys.modules['os'].environ)\n"),
]


def solve(code: str) -> dict:
    request = urllib.request.Request(
        os.environ["GATEWAY_URL"] + "/solve", data=json.dumps({"code": code}).encode(),
        headers={"Authorization": "Bearer " + os.environ["GATEWAY_TOKEN"], "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def without_template(answer: dict) -> dict:
    """Plotly's default template is some 7 KB of colours; what is shown here says that it is left out."""
    layout = (answer["plotly_json"] or {}).get("layout", {})
    if "template" in layout:
        layout["template"] = "(left out here: %d bytes of default colours)" % len(json.dumps(layout["template"]))
    return answer


def main() -> int:
    wrong = 0
    for title, status, code in PROGRAMS:
        answer = without_template(solve(code))
        print(f"--- {title}\nPOST /solve {json.dumps({'code': code})}\n")
        print(json.dumps(answer, indent=2), end="\n\n")
        wrong += answer["status"] != status
    if wrong:
        print(f"{wrong} of {len(PROGRAMS)} answers are not what they should be", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
