# expect: blocked-attribute 5, partial-module 5
# kind: attribute-walk
import sympy.parsing.sympy_parser as parser

print(parser.builtins)
