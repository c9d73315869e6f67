"""SmartNoise SQL, for `cargo xtask bench sql`; prints a JSON document.

It runs SQL on a database, so the table is first copied into SQLite, in memory; `load_cpu_s` says
what that takes.
- `count+sum`: by `from_connection`, the table inserted row by row: the faster way of the two.
- `count+sum, data frame`: by `from_df`, the way of its documentation.

Its one bound is on rows per person (`max_ids`), here GROUPS · ROWS: the same noise, and few rows
dropped. ε is spent by each column, so it is given half. Keys are taken from the table as they are
(`censor_dims: False`): they are public here.
"""

import sys

import sql_a_data as data

PEER, VERSION = "SmartNoise SQL", "1.0.10"
QUERY = "SELECT grp, COUNT(*) AS n, SUM(value) AS s FROM bench.visits GROUP BY grp"
TABLE = {
    "row_privacy": False,
    "max_ids": data.GROUPS * data.ROWS,
    "sample_max_ids": True,
    "censor_dims": False,
    "clamp_columns": True,
    "person": {"type": "int", "private_id": True},
    "grp": {"type": "int"},
    "value": {"type": "float", "lower": data.LOWER, "upper": data.UPPER},
}
METADATA = {"": {"bench": {"visits": TABLE}}}


def run(task, name):
    import snsql
    from pyarrow import parquet

    if task == "count+sum":
        import sqlite3
    imports = data.cpu()
    table = parquet.read_table(data.files(name)[0], columns=["person", "grp", "value"])
    privacy = snsql.Privacy(epsilon=data.EPSILON / 2, delta=1e-9)
    if task == "count+sum":
        connection = sqlite3.connect(":memory:")
        connection.execute("ATTACH ':memory:' AS bench")
        connection.execute("CREATE TABLE bench.visits (person INTEGER, grp INTEGER, value REAL)")
        for batch in table.to_batches(max_chunksize=65_536):
            rows = zip(*(column.to_pylist() for column in batch.columns))
            connection.executemany("INSERT INTO bench.visits VALUES (?, ?, ?)", rows)
        reader = snsql.from_connection(
            connection, privacy=privacy, metadata=METADATA, engine="sqlite"
        )
    else:
        reader = snsql.from_df(table.to_pandas(), privacy=privacy, metadata=METADATA)
    load = data.cpu() - imports
    epsilon, _ = reader.get_privacy_cost(QUERY)
    if abs(epsilon - data.EPSILON) > 1e-9:
        sys.exit(f"SmartNoise would spend {epsilon}, not {data.EPSILON}")
    data.answer(imports, load, reader.execute(QUERY)[1:])


def main():
    if sys.argv[1:2] == ["--task"]:
        return run(*sys.argv[2:])
    python = data.installed(PEER, VERSION, f"smartnoise-sql=={VERSION}", "pyarrow==26.0.1")
    tasks = ("count+sum", "count+sum, data frame")
    runs = [data.measured(python, __file__, task, "small", truth="rows_") for task in tasks]
    data.report(PEER, VERSION, runs)


if __name__ == "__main__":
    main()
