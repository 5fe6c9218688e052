# expect: blocked-attribute 5
# kind: process
import plotly.graph_objects as go

raw = go.Figure().to_image("png")
