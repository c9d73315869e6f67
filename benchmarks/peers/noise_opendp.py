"""OpenDP's noise, in samples per second, for `cargo xtask bench noise`.

Integer Laplace and integer Gaussian noise are added to a vector of zeros in one call: the
fastest way the wheel offers, some ten times faster than a call per number, which is measured
as well. The vector's way in and out of the library is part of the time, as it is part of
any use; it is under a tenth of it.

Prints a JSON document on standard output:
    {"library": "opendp", "version": "...", "python": "...",
     "rates": [{"noise": "laplace", "scale": 1.0, "call": "vector", "per_second": ...}, ...]}
"""

import importlib.metadata
import json
import platform
import statistics
import sys
import time

import opendp.prelude as dp

SCALES = (1.0, 100.0, 1e6)
BATCH = 20_000  # longer vectors are no faster
SINGLES = 1_000
ROUNDS = 5

dp.enable_features("contrib")


def vector(noise, scale):
    """A call that draws BATCH integers."""
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if noise == "laplace":
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)
    else:
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T="f64"), scale=scale)
    zeros = [0] * BATCH
    return BATCH, lambda: measurement(zeros)


def scalar(noise, scale):
    """SINGLES calls that draw one integer each."""
    domain = dp.atom_domain(T="i64")
    if noise == "laplace":
        measurement = dp.m.make_laplace(domain, dp.absolute_distance(T="i64"), scale=scale)
    else:
        measurement = dp.m.make_gaussian(domain, dp.absolute_distance(T="f64"), scale=scale)

    def run():
        for _ in range(SINGLES):
            measurement(0)

    return SINGLES, run


def check(noise, scale, drawn):
    """That what is timed is noise of the scale asked for: the standard deviation within 10 %."""
    a = 2.718281828459045 ** (-1 / scale)
    expected = (2 * a) ** 0.5 / (1 - a) if noise == "laplace" else scale
    found = statistics.pstdev(drawn)
    if abs(found / expected - 1) > 0.1:
        sys.exit(f"{noise} at scale {scale}: standard deviation {found}, not {expected}")


def rate(samples, run):
    """Samples per second: the best of ROUNDS rounds, lest a busy machine count against the peer."""
    run()
    seen = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        run()
        seen.append(samples / (time.perf_counter() - begun))
    return max(seen)


def main():
    rates = []
    for noise in ("laplace", "gaussian"):
        for scale in SCALES:
            for call, make in (("vector", vector), ("scalar", scalar)):
                samples, run = make(noise, scale)
                if call == "vector":
                    check(noise, scale, run())
                per_second = round(rate(samples, run))
                rates.append(
                    {"noise": noise, "scale": scale, "call": call, "per_second": per_second}
                )
                print(f"opendp {noise} {scale:g} {call}: {per_second:,}/s", file=sys.stderr)
    document = {
        "library": "opendp",
        "version": importlib.metadata.version("opendp"),
        "python": platform.python_version(),
        "rates": rates,
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
