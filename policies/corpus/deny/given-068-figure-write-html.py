# expect: blocked-attribute 10, blocked-path 12
# kind: fs-write
# expect-policy: reject
# expect-sandbox: no writable path outside the per-request scratch directory
# source: seed 001 (blocking write_html does not prove file access is blocked)
import numpy as np
import plotly.graph_objects as go

fig = go.Figure(go.Bar(x=["a", "b"], y=[2, 5]))
save = fig.write_html
save("/var/tmp/pwned-figure.html")
if np.fromfile("/var/tmp/pwned-figure.html", dtype="u1").size > 1000:
    print("PWNED")
