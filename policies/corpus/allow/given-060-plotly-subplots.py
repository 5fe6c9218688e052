# profile: solve
# topic: plotly
# expect-stdout-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
# expect-figure-traces: 2
from plotly.subplots import make_subplots
import plotly.graph_objects as go

fig = make_subplots(rows=1, cols=2, subplot_titles=("squares", "cubes"))
n = list(range(6))
fig.add_trace(go.Scatter(x=n, y=[k**2 for k in n]), row=1, col=1)
fig.add_trace(go.Scatter(x=n, y=[k**3 for k in n]), row=1, col=2)
fig.update_layout(showlegend=False, height=400)
