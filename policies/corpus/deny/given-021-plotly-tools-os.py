# expect: blocked-attribute 10, blocked-path 10
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: no secret in the process environment (only a fixed scrubbed environment is passed)
# source: own
import plotly
import plotly.graph_objects as go

fig = go.Figure(go.Scatter(y=[1, 4, 9]))
if plotly.tools.os.environ.get("SOLVER_TOKEN"):
    print("PWNED")
