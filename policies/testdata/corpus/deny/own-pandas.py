# expect: blocked-attribute 6
import plotly.express as px
class X:
    to_csv = 1
def f(t):
    t.to_csv('/tmp/x')
f(X())
