"""Times dp_accounting on the cases of `cargo xtask bench account`; prints a JSON document.

Each case is timed as its user would run it: build the privacy loss distributions at the default
discretisation (1e-4), compose, read epsilon. The best of ROUNDS rounds counts, in CPU seconds.
"""

import importlib.metadata
import json
import platform
import sys
import time

from dp_accounting.pld import accountant
from dp_accounting.pld import privacy_loss_distribution as pld

ROUNDS = 3


def laplace():
    one = pld.from_laplace_mechanism(1.0)
    return one.self_compose(100).get_epsilon_for_delta(1e-6)


def gaussian():
    one = pld.from_gaussian_mechanism(1.0)
    return one.self_compose(1000).get_epsilon_for_delta(1e-9)


def sgd(steps):
    one = pld.from_gaussian_mechanism(1.1, sampling_prob=0.01)
    return one.self_compose(steps).get_epsilon_for_delta(1e-5)


def mixture():
    a = pld.from_laplace_mechanism(20.0).self_compose(50)
    b = pld.from_gaussian_mechanism(20.0).self_compose(50)
    return a.compose(b).get_epsilon_for_delta(1e-6)


def response():
    one = pld.from_randomized_response(0.5, 2)
    return one.self_compose(100).get_epsilon_for_delta(1e-6)


def optimal():
    parameters = accountant.common.DifferentialPrivacyParameters(0.1, 0)
    return accountant.advanced_composition(parameters, 100, 1e-6)


CASES = {
    "laplace(b=1)*100": laplace,
    "gaussian(sigma=1)*1000": gaussian,
    "poisson(q=0.01, gaussian(sigma=1.1))*1000": lambda: sgd(1000),
    "poisson(q=0.01, gaussian(sigma=1.1))*10000": lambda: sgd(10000),
    "laplace(b=20)*50 + gaussian(sigma=20)*50": mixture,
    "response(eps=ln 3)*100": response,
    "pure(eps=0.1)*100, optimal": optimal,
}


def main():
    rows = []
    for name, run in CASES.items():
        seen = []
        for _ in range(ROUNDS):
            begun = time.process_time()
            epsilon = run()
            seen.append(time.process_time() - begun)
        rows.append({"case": name, "seconds": min(seen), "epsilon": float(epsilon)})
        print(f"dp_accounting {name}: {min(seen):.4f} s, {epsilon}", file=sys.stderr)
    document = {
        "library": "dp_accounting",
        "version": importlib.metadata.version("dp-accounting"),
        "python": platform.python_version(),
        "rows": rows,
    }
    json.dump(document, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
