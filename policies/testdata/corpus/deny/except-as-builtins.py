# expect: blocked-dunder 5
# kind: attribute-walk
try:
    1 / 0
except ZeroDivisionError as __builtins__:
    pass
