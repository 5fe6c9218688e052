# profile: solve
# topic: classes
from functools import cached_property, total_ordering


@total_ordering
class Temperature:
    def __init__(self, celsius):
        self.celsius = celsius

    @property
    def fahrenheit(self):
        return self.celsius * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value):
        self.celsius = (value - 32) * 5 / 9

    @cached_property
    def kelvin(self):
        return self.celsius + 273.15

    def __lt__(self, other):
        return self.celsius < other.celsius

    def __eq__(self, other):
        return self.celsius == other.celsius


t = Temperature(0)
t.fahrenheit = 212
print(t.celsius, t.kelvin, t > Temperature(3), t >= Temperature(100))
