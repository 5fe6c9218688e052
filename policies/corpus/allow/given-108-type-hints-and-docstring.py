# profile: solve, tool
# topic: typing
# expect-stdout: {'a': (1, 3), 'b': None}
from typing import Dict, Iterable, List, Optional, Tuple

def summarize(values: Iterable[float]) -> Optional[Tuple[float, float]]:
    """Return (minimum, maximum) of the values, or None when empty."""
    items: List[float] = list(values)
    if not items:
        return None
    return min(items), max(items)

cache: Dict[str, Optional[Tuple[float, float]]] = {"a": summarize([3, 1, 2]), "b": summarize([])}
print(cache)
