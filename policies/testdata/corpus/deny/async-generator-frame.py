# expect: blocked-syntax 3, blocked-attribute 6
# kind: attribute-walk
async def numbers():
    yield 1

print(numbers().ag_frame)
