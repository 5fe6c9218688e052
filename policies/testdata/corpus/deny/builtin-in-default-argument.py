# expect: blocked-name 3
# kind: attribute-walk
def run(text, how=eval):
    return how(text)

print(run("1 + 1"))
