# expect: blocked-attribute 5, blocked-path 5
# kind: network
import numpy as np

source = np.lib.npyio.DataSource()
print(source.open("http://127.0.0.1/"))
