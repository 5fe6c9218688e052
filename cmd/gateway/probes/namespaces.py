# Looks for a neighbour by its number: the gateway, whose priority is a sign
# that it alone has. Asking for a priority takes no right.
import os

try:
    seen = os.getpriority(os.PRIO_PROCESS, GATEWAY) == SIGN
except OSError:
    seen = False
print("OPEN: the gateway's process is visible" if seen else
      "SHUT: the gateway's process cannot be found; the program's own number is %d" % os.getpid())
