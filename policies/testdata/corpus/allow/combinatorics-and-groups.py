# profile: solve, tool
# topic: sympy
from sympy.combinatorics import Permutation, PermutationGroup
from sympy.combinatorics.named_groups import SymmetricGroup
from sympy import Matrix, Rational, binomial, factorial, fibonacci, bernoulli, catalan

p = Permutation([1, 2, 0])
print(p.order(), (p * p).array_form, PermutationGroup([p]).order(), SymmetricGroup(4).order())
print(binomial(5, 2), factorial(6), fibonacci(20), bernoulli(4), catalan(5), Matrix([[Rational(1, 2)]]).det())
