# profile: solve, tool
import plotly.express as px

px.line(x=[0, 1, 2], y=[0, 1, 4], title="Squares").show()
px.scatter({"a": [1, 2], "b": [3, 4]}, x="a", y="b").show()
fig = px.bar(x=["a", "b"], y=[1, 2], labels={"x": "name", "y": "count"})
fig
