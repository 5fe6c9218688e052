# expect: blocked-attribute 9, private-attribute 9
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: own
try:
    1 / 0
except ZeroDivisionError as problem:
    frame = problem.__traceback__.tb_frame
    opener = frame.f_builtins["open"]

if opener("/etc/hostname").read().strip():
    print("PWNED")
