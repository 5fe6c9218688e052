# expect: blocked-import 7, blocked-attribute 11
# kind: network
# expect-policy: reject
# expect-sandbox: the plugin's own go-plugin socket and the host /tmp are not visible
# source: hashicorp/go-plugin (unix socket named plugin* in the temporary directory)
# check: listener /tmp/plugin-check.sock
import glob
import socket

for path in glob.glob("/tmp/plugin*") + glob.glob("/run/plugin*") + glob.glob("/var/tmp/plugin*"):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(0.5)
    try:
        s.connect(path)
    except OSError:
        continue
    print("PWNED")
    break
