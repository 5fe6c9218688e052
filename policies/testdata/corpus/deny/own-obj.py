# expect: blocked-attribute 7
class X:
    obj = modules = 1
try:
    ('{0.' + 'sys.nope}').format(X)
except AttributeError as e:
    print(e.obj.modules['os'])
