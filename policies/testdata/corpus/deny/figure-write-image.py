# expect: blocked-attribute 5
# kind: fs-write
import plotly.express as px

px.line(x=[1, 2], y=[3, 4]).write_image("/tmp/x.png")
