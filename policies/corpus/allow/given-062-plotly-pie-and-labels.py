# profile: solve
# topic: plotly
# expect-stdout: 1500
# expect-figure-traces: 1
import plotly.graph_objects as go

shares = {"rent": 900, "food": 400, "other": 200}
fig = go.Figure(go.Pie(labels=list(shares), values=list(shares.values()), hole=0.3))
fig.update_traces(textinfo="label+percent")
fig.layout.title.text = "Budget"
print(sum(shares.values()))
