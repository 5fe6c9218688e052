# expect: blocked-attribute 3, blocked-import 3
# kind: import
import sympy.utilities.autowrap as tool

print(tool)
