# expect: blocked-attribute 10, blocked-path 11
# kind: fs-write
# expect-policy: reject
# expect-sandbox: no writable path outside the per-request scratch directory; and host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: CVE-2019-6446; numpy/numpy#27761
import numpy as np

step = "print('PWN' 'ED' if open('/etc/hostname').read().strip() else '')"
raw = b"cbuiltins\nexec\n(V" + step.encode() + b"\ntR."
np.frombuffer(raw, dtype=np.uint8).tofile("/tmp/sample.dat")
np.load("/tmp/sample.dat", allow_pickle=True)
