# Looks for what the gateway has and a program must not: its variables, its
# descriptors, core dumps, capabilities.
import os, resource

found = []
if "SLUICE_DOCTOR_CANARY" in os.environ or any(name.startswith(("SOLVER_", "SLUICE_")) for name in os.environ):
    found.append("a variable of the gateway's")
inherited = []
for fd in range(4, 1024):
    try:
        os.fstat(fd)
        inherited.append(fd)
    except OSError:
        pass
if inherited:
    found.append("open descriptors %s" % inherited)
if resource.getrlimit(resource.RLIMIT_CORE) != (0, 0):
    found.append("core dumps")
try:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 1 << 20))
    found.append("the right to raise its own limits")
except (ValueError, OSError):
    pass
if os.getgroups():
    found.append("groups %s" % os.getgroups())
print("OPEN: it found " + ", ".join(found) if found else
      "SHUT: no variable, descriptor, group or capability of the gateway's was found, no core dump is written")
