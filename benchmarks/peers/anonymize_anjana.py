"""anjana's k-anonymity in CPU seconds, for `cargo xtask bench anonymize`; prints a JSON document.

The table is the same as ours: Adult where DEMURE_ADULT names the folder that holds `adult.csv` and
`adult_hierarchy_<column>.csv`, otherwise a synthetic one of the same shape, drawn by the same
generator as in `benchmarks/src/bin/anonymize.rs`. `checksum` says whether it is.

Only the call is timed: not Python's start, nor reading the files. The best of ROUNDS rounds counts.
"""

import importlib.metadata
import io
import json
import os
import pathlib
import platform
import sys
import time

import pandas
from anjana.anonymity import k_anonymity

ROUNDS = 2
K = 5
SUPPRESS = (0, 4, 100)  # percent

ROWS = 30_162
# Name, distinct values, and how many values a group of each level between the first and `*` has.
COLUMNS = [
    ("sex", 2, []),
    ("age", 72, [5, 10, 20]),
    ("race", 5, []),
    ("marital-status", 7, [3]),
    ("education", 16, [3, 6]),
    ("native-country", 41, [8]),
    ("workclass", 8, [3]),
    ("occupation", 14, [4]),
    ("salary-class", 2, []),
]
MASK = 2**64 - 1


def synthetic():
    """The table as text, and a hierarchy for each column."""
    state = 1
    lines = [";".join(name for name, _, _ in COLUMNS)]
    for _ in range(ROWS):
        cells = []
        for _, distinct, _ in COLUMNS:
            state = (state * 6364136223846793005 + 1442695040888963407) & MASK
            draw = state >> 48
            cells.append(str(distinct * draw**3 >> 48))  # small numbers are frequent
        lines.append(";".join(cells))
    hierarchies = {}
    for name, distinct, widths in COLUMNS:
        rows = [
            [str(v), *(f"{v // w * w}-{v // w * w + w - 1}" for w in widths), "*"]
            for v in range(distinct)
        ]
        hierarchies[name] = dict(pandas.DataFrame(rows))
    return "\n".join(lines) + "\n", hierarchies


def real(folder):
    """The same of Adult."""
    text = (folder / "adult.csv").read_bytes().decode()
    names = text.splitlines()[0].split(";")
    read = lambda name: pandas.read_csv(
        folder / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str
    )
    return text, {name: dict(read(name)) for name in names}


def checksum(text):
    """FNV-1a, 64 bits."""
    state = 0xCBF29CE484222325
    for byte in text.encode():
        state = ((state ^ byte) * 0x100000001B3) & MASK
    return f"{state:016x}"


def main():
    folder = os.environ.get("DEMURE_ADULT")
    text, hierarchies = real(pathlib.Path(folder)) if folder else synthetic()
    table = pandas.read_csv(io.StringIO(text), sep=";", dtype=str)
    names = list(table.columns)
    rows = []
    for percent in SUPPRESS:
        seen = []
        for _ in range(ROUNDS):
            copy = table.copy()
            begun = time.process_time()
            released = k_anonymity(copy, [], names, K, percent, hierarchies)
            seen.append(time.process_time() - begun)
        least = released.groupby(names).size().min() if len(released) else None
        if least is not None and least < K:
            sys.exit(f"anjana at {percent} %: a class of {least}, not {K}")
        rows.append({"suppress": percent, "seconds": min(seen), "kept": len(released)})
        print(f"anjana k={K}, {percent} %: {min(seen):.2f} s", file=sys.stderr)
    document = {
        "library": "anjana",
        "version": importlib.metadata.version("anjana"),
        "python": platform.python_version(),
        "checksum": checksum(text),
        "rows": rows,
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
