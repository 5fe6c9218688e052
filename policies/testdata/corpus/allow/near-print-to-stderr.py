# profile: solve
import sys
print('a warning', file=sys.stderr)
print('x', file=sys.stdout)
