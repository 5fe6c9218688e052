# expect: private-attribute 9
# kind: attribute-walk
def outer():
    secret = 1
    def inner():
        return secret
    return inner

print(outer().__closure__[0].cell_contents)
