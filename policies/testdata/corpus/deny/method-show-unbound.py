# expect: show-renderer 4
import plotly.graph_objects as go
fig = go.Figure()
go.Figure.show(fig, 'browser')
