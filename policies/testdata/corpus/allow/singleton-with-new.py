# profile: solve
# topic: classes
class Config:
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.values = {}
        return cls._instance


Config().values["a"] = 1
print(Config().values, Config() is Config())
