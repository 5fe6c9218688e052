# expect: blocked-import 4
# kind: import
try:
    import posix as _quiet
except ImportError:
    pass
