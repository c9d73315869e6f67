"""multi-freq-ldpy's randomizers and estimators, in reports per second, for `cargo xtask bench local`.

Clients of the package are compiled by numba; each is called once before the clock starts. It gives
no estimates that are not cut at 0 and scaled to sum to one ("consistent"); the same is done to ours to compare errors.
"""

from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from reports import EPSILON, report


def made(mechanism, k):
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


def pair(mechanism, k):
    client, frequencies = made(mechanism, k)
    frequencies([client(0), client(1)])
    return client, frequencies


if __name__ == "__main__":
    report("multi-freq-ldpy", True, ("subset", 128, 5_000, 20), pair)
