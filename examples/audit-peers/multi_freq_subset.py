"""One person's report by multi-freq-ldpy's subset selection, ε = 0.5, eight categories.

usage: multi_freq_subset.py FILE RUNS
"""

import sys

from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client

answer = int(open(sys.argv[1]).read().split()[1])
for _ in range(int(sys.argv[2])):
    print(*SS_Client(answer, 8, 0.5))
