# profile: solve, tool
# topic: generators
# expect-stdout: [1, 2, 3, 4, 5] 5
def flatten(tree):
    for node in tree:
        if isinstance(node, (list, tuple)):
            yield from flatten(node)
        else:
            yield node

print(list(flatten([1, [2, (3, [4])], 5])), sum(x * x for x in flatten([[1], [2]])))
