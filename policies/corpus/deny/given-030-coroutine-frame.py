# expect: blocked-syntax 6, blocked-attribute 10
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: host files outside the read-only runtime image are not visible (no host /etc/hostname)
# source: danthedeckie/simpleeval#138
async def compute():
    return 42

task = compute()
opener = task.cr_frame.f_builtins["open"]
task.close()
if opener("/etc/hostname").read().strip():
    print("PWNED")
