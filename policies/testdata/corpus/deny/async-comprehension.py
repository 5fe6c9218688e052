# expect: blocked-syntax 3
# kind: attribute-walk
async def collect(source):
    return [item async for item in source]
