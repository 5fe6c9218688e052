# expect: blocked-attribute 11, blocked-path 11
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: numpy/numpy#12759
# note: numpy < 2 only (np.compat was removed later); np.load with allow_pickle is the version-independent form
import numpy as np

program = "print('PWN' 'ED' if open('/etc/hostname').read().strip() else '')"
blob = b"cbuiltins\nexec\n(V" + program.encode() + b"\ntR."
np.compat.pickle.loads(blob)
