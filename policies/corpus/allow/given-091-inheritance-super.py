# profile: solve
# topic: classes
# expect-stdout-sha256: 6c7a8184d1a637687a41f3234f6fa20f0e708e66fd6d827e2b0d0d1a99b37283
from abc import ABC, abstractmethod
import math

class Shape(ABC):
    def __init__(self, name):
        self.name = name

    @abstractmethod
    def area(self):
        ...

    def __str__(self):
        return f"{self.name}: {self.area():.3f}"

class Circle(Shape):
    def __init__(self, r):
        super().__init__("circle")
        self.r = r

    def area(self):
        return math.pi * self.r ** 2

class Square(Shape):
    def __init__(self, a):
        super().__init__("square")
        self.a = a

    def area(self):
        return self.a ** 2

for shape in (Circle(1), Square(2)):
    print(shape)
