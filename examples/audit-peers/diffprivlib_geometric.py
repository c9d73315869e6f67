"""The same count with diffprivlib's geometric mechanism: whole numbers have no low bits.

usage: diffprivlib_geometric.py FILE RUNS
"""

import sys

from diffprivlib.mechanisms import Geometric

rows = sum(1 for _ in open(sys.argv[1])) - 1
mechanism = Geometric(epsilon=1.0, sensitivity=1)
for _ in range(int(sys.argv[2])):
    print(mechanism.randomise(rows))
