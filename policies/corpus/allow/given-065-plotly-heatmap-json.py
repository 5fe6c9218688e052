# profile: solve
# topic: plotly
# expect-stdout: heatmap
# expect-figure-traces: 1
import json
import plotly.graph_objects as go

grid = [[i * j for j in range(4)] for i in range(4)]
fig = go.Figure(go.Heatmap(z=grid))
data = json.loads(fig.to_json())
print(data["data"][0]["type"])
