# expect: class-making 2
def f(t=type):
    return t('X', (), {})
print(f())
