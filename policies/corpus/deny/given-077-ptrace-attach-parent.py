# expect: blocked-import 6
# kind: process
# expect-policy: reject
# expect-sandbox: ptrace and process_vm_* refused; parent runs in another pid namespace
# source: own
import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
target = os.getppid()
if target > 0 and libc.ptrace(PTRACE_ATTACH, target, 0, 0) == 0:
    os.waitpid(target, 0x40000000)
    libc.ptrace(PTRACE_DETACH, target, 0, 0)
    print("PWNED")
