# expect: blocked-attribute 6, blocked-path 6
# kind: import
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own (json.codecs.open)
from json import codecs

with codecs.open("/etc/hostname") as stream:
    text = stream.read()
if text.strip():
    print("PWNED")
