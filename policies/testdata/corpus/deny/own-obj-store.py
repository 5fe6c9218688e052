# expect: blocked-attribute 3
f = lambda: 0
f.obj = f.modules = 1
try:
    ('{0.' + 'nope}').format(f)
except AttributeError as e:
    print(e.obj.modules['os'])
