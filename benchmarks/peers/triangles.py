"""What the peers of `cargo xtask bench graph` share: the graph, the clock, and the JSON document.

The graph is drawn by the same generator as in `benchmarks/src/bin/graph.rs`; the number of triangles says whether it is the same.
Only the count is timed: not Python's start, nor making the graph. The best of ROUNDS rounds counts.
"""

import json
import platform
import sys
import time

ROUNDS = 3
VERTICES, DRAWN = 40_000, 210_000
MASK = 2**64 - 1


def edges():
    """Pairs of vertices, smaller first, without loops and duplicates."""
    state = 1
    seen = set()
    for _ in range(DRAWN):
        ends = []
        for _ in range(2):
            state = (state * 6364136223846793005 + 1442695040888963407) & MASK
            x = state >> 32
            ends.append((VERTICES * ((x * x) >> 32)) >> 32)  # hubs have small numbers
        if ends[0] != ends[1]:
            seen.add((min(ends), max(ends)))
    return sorted(seen)


def report(library, version, count):
    """Times `count()`, and prints the document."""
    seen = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        triangles = count()
        seen.append(time.perf_counter() - begun)
    print(f"{library}: {min(seen) * 1e3:.1f} ms", file=sys.stderr)
    document = {
        "library": library,
        "version": version,
        "python": platform.python_version(),
        "triangles": triangles,
        "seconds": min(seen),
    }
    json.dump(document, sys.stdout, indent=1)
    print()
