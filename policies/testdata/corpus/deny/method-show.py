# expect: show-renderer 4
import plotly.graph_objects as go
fig = go.Figure()
s = fig.show
s('browser')
