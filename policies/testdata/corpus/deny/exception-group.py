# expect: blocked-syntax 3
# kind: attribute-walk
try:
    pass
except* ValueError:
    pass
