# profile: solve
# kind: output
# expect-policy: allow
# expect-sandbox: plotly_json bounded to 512 KiB; the bound is applied before it is parsed or copied
# source: seed 001 (plotly_json is bounded to 512 KiB)
# detect: response carries plotly_json above 512 KiB, or the gateway's memory grows by tens of MB per request
# check: none
import plotly.graph_objects as go

POINTS = 400000  # check-with: 100
fig = go.Figure(go.Scatter(y=[0.123456789 * k for k in range(POINTS)]))
