"""One person's report by pure-ldp's RAPPOR at ε = 1 (f by its own conversion): the bits, then the cohort.

The hash functions are public, so they are the same for everyone: made from a fixed seed. The noise is not.

usage: pure_ldp_rappor.py FILE RUNS
"""

import random
import sys

from pure_ldp.frequency_oracles.rappor import RAPPORClient, RAPPORServer

answer = int(open(sys.argv[1]).read().split()[1])
random.seed(1)
server = RAPPORServer(f=0.5, m=8, k=1, d=8, num_of_cohorts=1, index_mapper=lambda x: x)
random.seed()
f = server.convert_eps_to_f(1.0)
client = RAPPORClient(f=f, m=8, hash_funcs=server.get_hash_funcs(), num_of_cohorts=1, index_mapper=lambda x: x)
for _ in range(int(sys.argv[2])):
    bits, cohort = client.privatise(answer)
    print(*bits, cohort)
