# expect: module-store 5
# kind: state-leak
import statistics as st

st.mean, other = (lambda data: 0), 1
