# expect: blocked-attribute 5
# kind: process
import plotly.graph_objects as go

go.Figure().full_figure_for_development()
