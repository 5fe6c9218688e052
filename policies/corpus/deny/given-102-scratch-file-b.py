# expect: blocked-attribute 12, blocked-path 12
# kind: state-leak
# expect-policy: reject
# expect-sandbox: see the first half
# source: engineer-man/piston#683
# after: 101-scratch-file-a.py
# check: pair-second
import numpy as np

for folder in ("/tmp", "/dev/shm", ".", "/var/tmp"):
    try:
        if np.fromfile(folder + "/pwned-note.bin", dtype="u1").tolist() == [1, 2, 3]:
            print("PWNED")
            break
    except OSError:
        pass
