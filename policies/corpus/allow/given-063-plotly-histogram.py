# profile: solve
# topic: plotly
# expect-stdout: True
# expect-figure-traces: 1
import numpy as np
import plotly.graph_objects as go

rng = np.random.default_rng(1)
sample = rng.normal(loc=10, scale=2, size=500)
fig = go.Figure([go.Histogram(x=sample, nbinsx=20)])
fig.add_vline(x=float(sample.mean()), line_dash="dash")
print(9.5 < sample.mean() < 10.5)
