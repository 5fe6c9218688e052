# profile: solve
# topic: plotly with sympy
# expect-stdout: sin(x)/x
# expect-figure-traces: 1
import numpy as np
import plotly.graph_objects as go
import sympy as sp

x = sp.symbols("x")
expr = sp.sin(x) / x
f = sp.lambdify(x, expr, modules=["numpy"])
xs = np.linspace(0.1, 20, 200)
fig = go.Figure(go.Scatter(x=xs, y=f(xs), name=str(expr)))
fig.update_layout(template="plotly_white", title=f"f(x) = {expr}")
print(expr)
