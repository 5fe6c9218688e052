# expect: blocked-name 7
# kind: fs-write
# expect-policy: reject
# expect-sandbox: no writable path outside the per-request scratch directory
# source: own
target = "/var/tmp/pwned-open.txt"
with open(target, "w") as out:
    out.write("mark")
with open(target) as back:
    if back.read() == "mark":
        print("PWNED")
