# expect: blocked-import 6
# kind: import
# expect-policy: reject
# expect-sandbox: execve of other programs is refused; host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own
import subprocess as sp

name = sp.run(["cat", "/etc/hostname"], capture_output=True, text=True).stdout
if name.strip():
    print("PWNED")
