# expect: blocked-attribute 5, blocked-path 5
# kind: attribute-walk
import plotly.express as px

print(px.optional_imports.get_module("os"))
