# expect: blocked-attribute 12
# kind: state-leak
# expect-policy: reject
# expect-sandbox: scratch directory is private to one request and removed afterwards
# source: engineer-man/piston#683 (shared /tmp)
# detect: first half of a pair, prints nothing
# check: pair-first
import numpy as np

for folder in ("/tmp", "/dev/shm", ".", "/var/tmp"):
    try:
        np.array([1, 2, 3], dtype="u1").tofile(folder + "/pwned-note.bin")
    except OSError:
        pass
