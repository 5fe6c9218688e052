# expect: blocked-attribute 10, blocked-path 10
# kind: network
# expect-policy: reject
# expect-sandbox: no usable network socket: own network namespace and socket() refused
# source: own (numpy.DataSource opens URLs)
# check: listener 127.0.0.1:7860
import numpy as np

try:
    table = np.genfromtxt("http://127.0.0.1:7860/data.csv", dtype=str)
    if table.size:
        print("PWNED")
except OSError as reason:
    print("no:", type(reason).__name__)
