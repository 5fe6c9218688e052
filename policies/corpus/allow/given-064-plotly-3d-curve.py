# profile: solve
# topic: plotly
# expect-stdout-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
# expect-figure-traces: 1
import math
import plotly.graph_objs as go

t = [i * 0.1 for i in range(200)]
trace = go.Scatter3d(
    x=[math.cos(v) for v in t],
    y=[math.sin(v) for v in t],
    z=t,
    mode="lines",
)
layout = go.Layout(title="Helix", margin=dict(l=0, r=0, b=0, t=40))
fig = go.Figure(data=[trace], layout=layout)
