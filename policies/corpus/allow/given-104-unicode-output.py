# profile: solve, tool
# topic: unicode
# expect-stdout-sha256: c6fafbd2da6a589f74fb1ed4748403055863c71c683b2870da8541e5a2daa616
import sympy as sp

x = sp.Symbol("x")
print("∫ 2x dx =", sp.integrate(2*x, x))
print("α β γ → ∞ ≤ √2 ≈ 1.414 · ½ ✓ 你好 π")
