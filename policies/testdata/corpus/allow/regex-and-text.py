# profile: solve, tool
# topic: re
import re
import string
import textwrap

text = "Mail a.b@example.com or c@d.org on 2024-02-29."
pattern = re.compile(r"(?P<user>[\w.]+)@(?P<host>[\w.]+\w)", re.VERBOSE | re.IGNORECASE)
print([m.group("host") for m in pattern.finditer(text)], pattern.match("x.y@z.com").groupdict())
print(re.sub(r"(\d+)-(\d+)-(\d+)", r"\3.\2.\1", text).split()[-1], re.escape("a.b"), re.split(r"[,;]", "a,b;c"))
print(string.Template("$who is $n").substitute(who="x", n=3), textwrap.fill("a b c d", 4), string.capwords("ab cd"))
print("{:>8}|{:<5}|{:^7}".format("a", "b", "c"), "{0[0]}{p.real}".format([1], p=2.5), "%(n)03d" % {"n": 7}, "abc".translate(str.maketrans("a", "b")))
