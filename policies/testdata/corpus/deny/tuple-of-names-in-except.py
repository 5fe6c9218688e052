# expect: blocked-name 5
# kind: attribute-walk
try:
    nothing
except (NameError, eval) as eval:
    pass
