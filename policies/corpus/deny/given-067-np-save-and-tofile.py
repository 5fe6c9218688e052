# expect: blocked-path 8
# kind: fs-write
# expect-policy: reject
# expect-sandbox: no writable path outside the per-request scratch directory
# source: run-llama/llama_index#20690
import numpy as np

np.save("/var/tmp/pwned-array", np.arange(3))
again = np.load("/var/tmp/pwned-array.npy")
if again.tolist() == [0, 1, 2]:
    print("PWNED")
