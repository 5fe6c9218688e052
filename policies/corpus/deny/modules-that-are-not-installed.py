# expect: missing-import 3
# kind: import
import pandas as pd
from scipy.optimize import brentq

print(pd, brentq)
