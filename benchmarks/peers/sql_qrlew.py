"""Qrlew, for `cargo xtask bench sql`: SQL rewritten, then run by DuckDB; prints a JSON document.

The rewritten query is PostgreSQL's, and DuckDB takes it as it is. It is not the same work:
- Noise is made in SQL from RANDOM(), by Box and Muller's formula on doubles: neither a secure
  generator nor an exact sampler.
- Noise is Gaussian and needs a δ; here 1e-6.
- The bound is on the Euclidean norm of a person's counts (sums) over groups, and what exceeds it
  is scaled down, so no row is dropped. GROUPS groups with ROWS rows each have norm ROWS · √GROUPS,
  which is the bound given. The error is against the answer without bounds.

DuckDB reads the file through a view; a copy of the table in DuckDB takes no less CPU time, and more
memory.
"""

import json
import sys

import sql_a_data as data

PEER, VERSION = "Qrlew on DuckDB", "0.9.27"
DELTA = 1e-6
QUERY = "SELECT grp, COUNT(*) AS n, SUM(value) AS s FROM visits GROUP BY grp"
NORM = data.ROWS * data.GROUPS**0.5


def dataset(name):
    """The description of the table that Qrlew reads: names, types, ranges and public keys."""
    of = data.TABLES[name]

    def integer(top, values):
        bounds = {"base": "INT64", "min": "0", "max": str(top), "possible_values": values}
        return {"name": "Integer", "integer": bounds, "properties": {}}

    real = {"base": "FLOAT64", "min": data.LOWER, "max": data.UPPER, "possible_values": []}
    fields = {
        "person": integer(of["people"] - 1, []),
        "grp": integer(of["groups"] - 1, [str(key) for key in range(of["groups"])]),
        "value": {"name": "Float64", "float": real, "properties": {}},
    }
    fields = [{"name": column, "type": kind} for column, kind in fields.items()]
    struct = {"name": "Struct", "struct": {"fields": fields}, "properties": {}}
    union = {"fields": [{"name": "visits", "type": struct}]}
    return (
        {
            "@type": "sarus_data_spec/sarus_data_spec.Dataset",
            "uuid": "1",
            "name": "Transformed",
            "spec": {"transformed": {"transform": "2", "arguments": [], "named_arguments": {}}},
            "properties": {},
            "doc": "",
        },
        {
            "@type": "sarus_data_spec/sarus_data_spec.Schema",
            "uuid": "3",
            "dataset": "1",
            "name": "bench",
            "type": {"name": "Union", "union": union, "properties": {"public_fields": "[]"}},
        },
    )


def run(task, name):
    import duckdb
    import pyqrlew

    imports = data.cpu()
    connection = duckdb.connect()
    files = data.files(name)
    connection.execute(f"CREATE VIEW visits AS FROM read_parquet({files})")
    described = pyqrlew.Dataset.from_str(*map(json.dumps, dataset(name)), "")
    private = described.relation(QUERY).rewrite_with_differential_privacy(
        described,
        [("visits", [], "person")],
        {"epsilon": data.EPSILON, "delta": DELTA},
        max_multiplicity=NORM,
        max_multiplicity_share=1.0,
        max_privacy_unit_groups=data.GROUPS,
    )
    query = private.relation().to_query(pyqrlew.Dialect.PostgreSql)
    data.answer(imports, 0.0, connection.execute(query).fetchall())


def main():
    if sys.argv[1:2] == ["--task"]:
        return run(*sys.argv[2:])
    python = data.installed(PEER, VERSION, f"pyqrlew=={VERSION}", "duckdb==2.0.0")
    runs = [data.measured(python, __file__, "count+sum", "small", truth="", delta=DELTA)]
    data.report(PEER, VERSION, runs)


if __name__ == "__main__":
    main()
