# expect: blocked-import 3, blocked-path 3, blocked-attribute 6
# kind: fs-write
import plotly.io as pio
import plotly.graph_objects as go

pio.write_html(go.Figure(), "/tmp/x.html")
