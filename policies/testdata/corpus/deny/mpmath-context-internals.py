# expect: blocked-attribute 5, blocked-path 5
# kind: attribute-walk
import mpmath

print(mpmath.ctx_mp.libmp, mpmath.function_docs)
