"""pure-ldp's randomizers and estimators, in reports per second, for `cargo xtask bench local`."""

from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import (
    HadamardResponseClient,
    HadamardResponseServer,
)
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer
from reports import EPSILON, report


def made(mechanism, k):
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


def pair(mechanism, k):
    client, server = made(mechanism, k)

    def frequencies(reports):
        server.aggregate_all(reports)
        found = server.estimate_all(range(k), suppress_warnings=True)
        return [x / len(reports) for x in found]

    return client.privatise, frequencies


if __name__ == "__main__":
    report("pure-ldp", False, ("hadamard", 1024, 10_000, 20), pair)
