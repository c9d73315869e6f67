"""What the peers of `cargo xtask bench local` share: the answers, the clock, and the JSON document:

    {"library": "pure-ldp", "version": "...", "python": "...", "consistent": false,
     "rows": [{"mechanism": "local-hashing", "k": 1024, "epsilon": 1.0, "n": ...,
               "randomize": ..., "estimate": ..., "mse": ...}, ...]}

Each person's answer is randomized by a call, as there is no other way; the reports are aggregated and all
values estimated. The mean squared error is that of the frequencies against those of the very answers.
"""

import importlib.metadata
import json
import platform
import sys
import time

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


def report(library, consistent, case, pair):
    """Measures the common cases and `case`, and prints the document.

    `pair(mechanism, k)` makes what randomizes a value, and what makes frequencies of all reports. `consistent`
    says whether these are cut at 0 and scaled to sum to one.
    """
    rows = []
    for mechanism, k, n, rounds in (*CASES, case):
        people = answers(k, n)
        truth = [0.0] * k
        for value in people:
            truth[value] += 1 / n
        randomize, estimate, mse = [], [], []
        for _ in range(rounds):
            client, frequencies = pair(mechanism, k)
            begun = time.process_time()
            reports = [client(value) for value in people]
            randomize.append(n / (time.process_time() - begun))
            begun = time.process_time()
            found = frequencies(reports)
            estimate.append(n / (time.process_time() - begun))
            mse.append(sum((x - t) ** 2 for x, t in zip(found, truth)) / k)
        row = {
            "mechanism": mechanism,
            "k": k,
            "epsilon": EPSILON,
            "n": n,
            # The best round, lest a busy machine count against the peer.
            "randomize": max(randomize),
            "estimate": max(estimate),
            "mse": float(sum(mse) / rounds),
        }
        rows.append(row)
        print(
            f"{library} {mechanism} k={k}: {row['randomize']:,.0f} randomized/s, "
            f"{row['estimate']:,.0f} estimated/s, mse {row['mse']:.3g}",
            file=sys.stderr,
        )
    document = {
        "library": library,
        "version": importlib.metadata.version(library),
        "python": platform.python_version(),
        "consistent": consistent,
        "rows": rows,
    }
    json.dump(document, sys.stdout, indent=1)
    print()
