# profile: solve
# topic: plotly
import plotly.express as px
import plotly.graph_objects as go
from plotly.subplots import make_subplots

fig = make_subplots(rows=1, cols=2, subplot_titles=["a", "b"])
fig.add_trace(go.Scatter(x=[1, 2], y=[3, 4], line=dict(color=px.colors.qualitative.Plotly[0], dash="dot"), name="f'(x)"), row=1, col=1)
fig.add_trace(go.Bar(x=["p", "q"], y=[1, 2]), row=1, col=2)
fig.update_layout(title=dict(text="open(0, 1) and x.y", x=0.5), legend_title_text="lines")
fig.update_xaxes(title_text="time / s", range=[0, 3])
fig.layout.xaxis.title.text = "t"
fig.show()
print(len(fig.data), fig.layout.title.text)
