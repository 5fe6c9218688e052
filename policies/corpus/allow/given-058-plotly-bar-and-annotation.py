# profile: solve
# topic: plotly
# expect-stdout-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
# expect-figure-traces: 1
import plotly.graph_objects as go

labels = ["A", "B", "C"]
values = [12, 7, 15]
fig = go.Figure(data=[go.Bar(x=labels, y=values, marker_color="teal")])
fig.add_annotation(x="C", y=15, text="largest", showarrow=True)
fig.update_yaxes(range=[0, 20])
