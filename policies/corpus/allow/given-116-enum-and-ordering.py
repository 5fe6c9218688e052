# profile: solve
# topic: enum
# expect-stdout: ['CLUBS', 'HEARTS'] True HEARTS
from enum import Enum, IntEnum

class Suit(Enum):
    CLUBS = "c"
    HEARTS = "h"

class Rank(IntEnum):
    TEN = 10
    JACK = 11

print([s.name for s in Suit], Rank.JACK > Rank.TEN, Suit("h").name)
