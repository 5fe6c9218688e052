# profile: solve
# topic: plotly
import numpy as np
import plotly.graph_objects as go

t = np.linspace(0, 2 * np.pi, 20)
fig = go.Figure(
    data=[go.Scatter(x=np.cos(t), y=np.sin(t), mode="markers")],
    layout=go.Layout(shapes=[dict(type="circle", x0=-1, y0=-1, x1=1, y1=1)], width=400),
    frames=[go.Frame(data=[go.Scatter(x=[np.cos(k)], y=[np.sin(k)])]) for k in t],
)
fig.add_shape(type="line", x0=0, y0=0, x1=1, y1=1)
fig.update_layout(xaxis=dict(scaleanchor="y"), hovermode="x unified", template="simple_white")
print(len(fig.frames), fig.to_dict()["layout"]["width"])
