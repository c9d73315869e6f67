"""multi-freq-ldpy's randomizers and estimators, in reports per second, for `cargo xtask bench local`.

Clients of the package are compiled by numba; each is called once before the clock starts. It gives
no estimates that are not cut at 0 and scaled to sum to one ("consistent"); the same is done to ours to compare errors.

Prints a JSON document on standard output, as `local_pure_ldp.py` does.
"""

import importlib.metadata
import json
import platform
import sys
import time

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

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
    ("subset", 128, 5_000, 20),
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
    """How one value is randomized, and all reports estimated."""
    if mechanism == "response":
        return lambda v: GRR_Client(v, k, EPSILON), lambda r: GRR_Aggregator_MI(r, k, EPSILON)
    if mechanism == "optimised-unary":
        return lambda v: UE_Client(v, k, EPSILON, True), lambda r: UE_Aggregator_MI(r, EPSILON, True)
    if mechanism == "local-hashing":
        return (
            lambda v: LH_Client(v, k, EPSILON, True),
            lambda r: LH_Aggregator_MI(r, k, EPSILON, True),
        )
    return lambda v: SS_Client(v, k, EPSILON), lambda r: SS_Aggregator_MI(r, k, EPSILON)


def main():
    rows = []
    for mechanism, k, n, rounds in CASES:
        people = answers(k, n)
        truth = [0.0] * k
        for value in people:
            truth[value] += 1 / n
        client, aggregate = pair(mechanism, k)
        aggregate([client(0), client(1)])
        randomize, estimate, mse = [], [], []
        for _ in range(rounds):
            begun = time.process_time()
            reports = [client(value) for value in people]
            randomize.append(n / (time.process_time() - begun))
            begun = time.process_time()
            found = aggregate(reports)
            estimate.append(n / (time.process_time() - begun))
            mse.append(sum((x - t) ** 2 for x, t in zip(found, truth)) / k)
        row = {
            "mechanism": mechanism,
            "k": k,
            "epsilon": EPSILON,
            "n": n,
            "randomize": max(randomize),
            "estimate": max(estimate),
            "mse": float(sum(mse) / rounds),
        }
        rows.append(row)
        print(
            f"multi-freq-ldpy {mechanism} k={k}: {row['randomize']:,.0f} randomized/s, "
            f"{row['estimate']:,.0f} estimated/s, mse {row['mse']:.3g}",
            file=sys.stderr,
        )
    document = {
        "library": "multi-freq-ldpy",
        "version": importlib.metadata.version("multi-freq-ldpy"),
        "python": platform.python_version(),
        "consistent": True,
        "rows": rows,
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
