# expect: blocked-path 5, code-in-text 5
# kind: fs-write
import mpmath

mpmath.mp.plot([mpmath.sin], file="/tmp/x.png")
