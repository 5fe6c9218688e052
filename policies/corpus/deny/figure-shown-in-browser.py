# expect: show-renderer 5
# kind: process
import plotly.graph_objects as go

go.Figure().show(renderer="browser")
