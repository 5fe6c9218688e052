# expect: private-attribute 6
# kind: attribute-walk
# expect-policy: reject
# expect-sandbox: the host account database is not visible inside the sandbox
# source: own
home = print.__self__
if "daemon:" in home.open("/etc/passwd").read():
    print("PWNED")
