"""pure-ldp's randomizers and estimators, in reports per second, for `cargo xtask bench local`.

Each person's answer is randomized by a call, as there is no other way; the reports are aggregated and all
values estimated. The mean squared error is that of the frequencies against those of the very answers.

Prints a JSON document on standard output:
    {"library": "pure-ldp", "version": "...", "python": "...", "consistent": false,
     "rows": [{"mechanism": "local-hashing", "k": 1024, "epsilon": 1.0, "n": ...,
               "randomize": ..., "estimate": ..., "mse": ...}, ...]}
"""

import importlib.metadata
import json
import platform
import sys
import time

from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import (
    HadamardResponseClient,
    HadamardResponseServer,
)
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

EPSILON = 1.0
# Mechanism, values, people, rounds. Local hashing of 1,024 values takes half a minute a round: as many people
# as make the exact intervals, which only we have, a small part of the work.
CASES = (
    ("response", 2, 20_000, 20),
    ("response", 128, 20_000, 20),
    ("response", 1024, 20_000, 20),
    ("optimised-unary", 128, 10_000, 20),
    ("optimised-unary", 1024, 5_000, 20),
    ("local-hashing", 128, 10_000, 20),
    ("local-hashing", 1024, 60_000, 1),
    ("hadamard", 1024, 10_000, 20),
)
MASK = (1 << 64) - 1


def answers(k, n):
    """The same answers as in `benchmarks/src/bin/local.rs`: small numbers are frequent."""
    state, drawn = 1, []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        draw = state >> 48
        drawn.append(k * draw * draw >> 32)
    return drawn


def pair(mechanism, k):
    """A client and a server. Values are counted from 0."""
    same = lambda value: value
    if mechanism == "response":
        return DEClient(EPSILON, k, same), DEServer(EPSILON, k, same)
    if mechanism == "optimised-unary":
        return UEClient(EPSILON, k, True, same), UEServer(EPSILON, k, True, same)
    if mechanism == "local-hashing":
        return (
            LHClient(EPSILON, k, use_olh=True, index_mapper=same),
            LHServer(EPSILON, k, use_olh=True, index_mapper=same),
        )
    server = HadamardResponseServer(EPSILON, k, same)
    return HadamardResponseClient(EPSILON, k, server.get_hash_funcs(), same), server


def main():
    rows = []
    for mechanism, k, n, rounds in CASES:
        people = answers(k, n)
        truth = [0.0] * k
        for value in people:
            truth[value] += 1 / n
        randomize, estimate, mse = [], [], []
        for _ in range(rounds):
            client, server = pair(mechanism, k)
            begun = time.process_time()
            reports = [client.privatise(value) for value in people]
            randomize.append(n / (time.process_time() - begun))
            begun = time.process_time()
            server.aggregate_all(reports)
            found = server.estimate_all(range(k), suppress_warnings=True)
            estimate.append(n / (time.process_time() - begun))
            mse.append(sum((x / n - t) ** 2 for x, t in zip(found, truth)) / k)
        row = {
            "mechanism": mechanism,
            "k": k,
            "epsilon": EPSILON,
            "n": n,
            # The best round, lest a busy machine count against the peer.
            "randomize": max(randomize),
            "estimate": max(estimate),
            "mse": sum(mse) / rounds,
        }
        rows.append(row)
        print(
            f"pure-ldp {mechanism} k={k}: {row['randomize']:,.0f} randomized/s, "
            f"{row['estimate']:,.0f} estimated/s, mse {row['mse']:.3g}",
            file=sys.stderr,
        )
    document = {
        "library": "pure-ldp",
        "version": importlib.metadata.version("pure-ldp"),
        "python": platform.python_version(),
        "consistent": False,
        "rows": rows,
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
