# expect: missing-import 3
# kind: import
import pandas as pd
from torch.optim import SGD

print(pd, SGD)
