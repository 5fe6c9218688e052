# profile: solve
# topic: plotly
# expect-stdout: (25, 25)
# expect-figure-traces: 1
import numpy as np
import plotly.graph_objects as go

t = np.linspace(-2, 2, 25)
X, Y = np.meshgrid(t, t)
Z = np.exp(-(X**2 + Y**2))
fig = go.Figure(data=[go.Surface(x=X, y=Y, z=Z, colorscale="Viridis")])
fig.update_layout(scene=dict(zaxis=dict(range=[0, 1])))
print(Z.shape)
