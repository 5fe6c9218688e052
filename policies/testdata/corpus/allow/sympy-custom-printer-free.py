# profile: solve
# topic: sympy
from sympy import Function, Symbol, latex, pretty, srepr, pprint, init_printing, Rational

init_printing(use_unicode=True)
x = Symbol("x", real=True)


class half(Function):
    @classmethod
    def eval(cls, arg):
        if arg.is_Number:
            return arg / 2

    def _eval_derivative(self, s):
        return Rational(1, 2) * self.args[0].diff(s)


print(half(4), half(x).diff(x), latex(half(x) / 3), srepr(x + 1), pretty(x**2, use_unicode=False))
