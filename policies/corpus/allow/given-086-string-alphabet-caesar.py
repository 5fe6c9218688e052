# profile: solve, tool
# topic: string
# expect-stdout: surri eb lqgxfwlrq
import string

def caesar(text, shift):
    letters = string.ascii_lowercase
    table = str.maketrans(letters, letters[shift:] + letters[:shift])
    return text.translate(table)

print(caesar("proof by induction", 3))
