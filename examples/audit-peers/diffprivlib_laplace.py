"""A count with diffprivlib's Laplace mechanism at ε = 1: one run a line.

usage: diffprivlib_laplace.py FILE RUNS
"""

import sys

from diffprivlib.mechanisms import Laplace

rows = sum(1 for _ in open(sys.argv[1])) - 1
mechanism = Laplace(epsilon=1.0, sensitivity=1.0)
for _ in range(int(sys.argv[2])):
    print(repr(float(mechanism.randomise(rows))))
