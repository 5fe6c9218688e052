# expect: decorator-expression 3
# kind: attribute-walk
@(lambda f: f())
def run():
    print("ran")
