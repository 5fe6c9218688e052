# expect: blocked-attribute 5, blocked-path 5
# kind: attribute-walk
import typing as t

print(t.warnings.sys.modules)
