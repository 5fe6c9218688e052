import sympy as sp
x = sp.Symbol('x')
msg = 'open(the door), then eval(uate)'
note = 'exit(the room)'
print(sp.expand((x + 1)**2), msg, note)
