import plotly.graph_objects as go, plotly.express as px, plotly.figure_factory as ff, plotly.io as pio, numpy as np
from plotly.subplots import make_subplots
f = make_subplots(2, 2); f.add_trace(go.Scatter(y=np.arange(5)), 1, 1); f.add_trace(go.Histogram(x=np.random.rand(50)), 2, 2); f.to_json(); f.to_plotly_json()
go.Figure(go.Surface(z=np.outer(np.arange(9), np.arange(9)))).to_json(); px.line(x=[1, 2], y=[3, 4]).to_json(); ff.create_quiver([1], [1], [1], [1]).to_json()
pio.to_html(f, include_plotlyjs=False); go.Figure(go.Pie(values=[1, 2])).update_layout(template="plotly_dark").to_json()
