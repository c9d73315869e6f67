#!/bin/sh
# Installs the peers from PyPI into a folder under target/ and audits them. DEMURE is the binary, if it is not on the PATH.
set -u
cd "$(dirname "$0")" || exit 2
demure="${DEMURE:-demure}"
venv="${VENV:-../../target/audit-peers}"
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --no-deps diffprivlib==0.6.6 multi-freq-ldpy==0.2.5 pure-ldp==1.2.0 \
        && "$venv/bin/pip" install --quiet numba scipy "scikit-learn<1.6" "xxhash<3" bitstring statsmodels || exit 2
fi
python="$venv/bin/python"
audit() {
    echo "\$ demure audit command $*" | sed "s,$venv/bin/python,python,"
    "$demure" audit command "$@"
    echo "exit code $?"
    echo
}
audit --left nobody.csv --right somebody.csv --epsilon 1 --samples 100000 -- "$python" diffprivlib_laplace.py {} {n}
audit --left answer-0.csv --right answer-1.csv --epsilon 0.5 --samples 50000 -- "$python" multi_freq_subset.py {} {n}
audit --left answer-0.csv --right answer-1.csv --epsilon 1 --samples 50000 -- "$python" pure_ldp_rappor.py {} {n}
audit --left nobody.csv --right somebody.csv --epsilon 1 --samples 100000 -- "$python" diffprivlib_geometric.py {} {n}
