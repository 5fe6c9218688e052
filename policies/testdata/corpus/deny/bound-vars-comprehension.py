# expect: blocked-name 3
import random
print([vars for vars in vars(random)])
