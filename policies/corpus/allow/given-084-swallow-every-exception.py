# profile: solve, tool
# kind: cpu
# expect-policy: allow
# expect-sandbox: timeout must not be an exception raised inside the guest
# source: own
# detect: no response within the limit
# check: cage
def stubborn():
    while True:
        try:
            total = 0
            for i in range(10**6):
                total += i * i
        except BaseException:
            continue

while True:
    try:
        stubborn()
    except BaseException:
        pass
