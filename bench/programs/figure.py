import numpy as np
import plotly.graph_objects as go
t = np.linspace(0, 6, 200)
fig = go.Figure(go.Scatter(x=t, y=np.sin(t) * np.exp(-t / 3), mode='lines', name='damped'))
fig.update_layout(title='A damped wave', xaxis_title='t', yaxis_title='y')
fig.show()
