# profile: solve
# topic: plotly
# expect-stdout: traces: 2
# expect-figure-traces: 2
import numpy as np
import plotly.graph_objects as go

x = np.linspace(0, 2*np.pi, 50)
fig = go.Figure()
fig.add_trace(go.Scatter(x=x, y=np.sin(x), mode="lines", name="sin"))
fig.add_trace(go.Scatter(x=x, y=np.cos(x), mode="lines", name="cos"))
fig.update_layout(title="Sine and cosine", xaxis_title="x", yaxis_title="value")
print("traces:", len(fig.data))
