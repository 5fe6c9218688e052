# profile: solve
# topic: data structures
from __future__ import annotations
from typing import Generic, Iterator, Optional, TypeVar

T = TypeVar("T")


class Node(Generic[T]):
    def __init__(self, value: T, next: Optional[Node[T]] = None) -> None:
        self.value = value
        self.next = next


class Stack(Generic[T]):
    def __init__(self) -> None:
        self._head: Optional[Node[T]] = None
        self._size = 0

    def push(self, value: T) -> None:
        self._head = Node(value, self._head)
        self._size += 1

    def pop(self) -> T:
        if self._head is None:
            raise IndexError("pop from an empty stack")
        node, self._head = self._head, self._head.next
        self._size -= 1
        return node.value

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[T]:
        node = self._head
        while node:
            yield node.value
            node = node.next


s: Stack[int] = Stack()
for n in range(4):
    s.push(n)
print(s.pop(), len(s), list(s))
