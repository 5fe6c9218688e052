# expect: blocked-dunder 7, blocked-name 7
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own (call without a Call node)
class Row:
    __matmul__ = eval

value = Row() @ "open('/etc/hostname').read()"
if value.strip():
    print("PWNED")
