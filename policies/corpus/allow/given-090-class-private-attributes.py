# profile: solve
# topic: classes
# expect-stdout-sha256: b348e2f081fd90d32a5e656eed6246aeedec8e36623624ca55a80cfa688dce04
class Account:
    _interest = 0.05

    def __init__(self, owner, balance=0):
        self.owner = owner
        self._balance = balance

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self._balance += amount
        return self

    @property
    def balance(self):
        return self._balance

    @classmethod
    def rate(cls):
        return cls._interest

acct = Account("Eve", 100).deposit(50)
try:
    acct.deposit(-1)
except ValueError as exc:
    print(type(exc).__name__, exc)
print(acct.balance, Account.rate())
