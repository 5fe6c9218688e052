# expect: blocked-keyword 7, blocked-attribute 7
# The function is given a Series, whose methods read and write files and evaluate text.
import plotly.express as px

fig = px.scatter(
    x=[1, 2], y=[3, 4], trendline="rolling",
    trendline_options=dict(window=1, function="apply", function_args=dict(func=lambda s: s.to_frame().query("@x"))),
)
