# expect: blocked-import 6
# kind: process
# expect-policy: reject
# expect-sandbox: creating new user or mount namespaces from inside is refused by the syscall filter
# source: own
import ctypes

CLONE_NEWUSER = 0x10000000
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(CLONE_NEWUSER) == 0:
    print("PWNED")
