"""DuckDB without privacy, for `cargo xtask bench sql`: what the same answer costs; prints JSON.

- `plain`: COUNT(*) and SUM by group;
- `bounded`: the same after each person's rows are bounded as a private engine must, at random:
  both windows in one pass over the table. A join with the pairs that are kept, or a list for each
  pair, took twice the CPU time and more on `large`.

There is no noise in either.
"""

import importlib.metadata
import sys

import sql_a_data as data

PLAIN = "SELECT grp, count(*), sum(value) FROM read_parquet($files) GROUP BY grp"

# DuckDB refuses RANDOM() within a window's ORDER BY; a column drawn before is the same. One that is
# the same for all rows of a person and group, and random otherwise, is a salted hash.
BOUNDED = f"""
    WITH salt AS MATERIALIZED (SELECT random() AS salt),
    drawn AS (
        SELECT person, grp, greatest({data.LOWER}, least({data.UPPER}, value)) AS value,
            random() AS u, hash(person, grp, salt) AS v
        FROM read_parquet($files), salt),
    ranked AS (
        SELECT grp, value,
            dense_rank() OVER (PARTITION BY person ORDER BY v, grp) AS g,
            row_number() OVER (PARTITION BY person, grp ORDER BY u) AS r
        FROM drawn)
    SELECT grp, count(*), sum(value) FROM ranked
    WHERE g <= {data.GROUPS} AND r <= {data.ROWS} GROUP BY grp"""

TASKS = {"plain": PLAIN, "bounded": BOUNDED}


def run(task, name):
    import duckdb

    imports = data.cpu()
    rows = duckdb.execute(TASKS[task], {"files": data.files(name)}).fetchall()
    data.answer(imports, 0.0, rows)


def main():
    if sys.argv[1:2] == ["--task"]:
        return run(*sys.argv[2:])
    runs = [
        data.measured(sys.executable, __file__, task, name, truth=truth)
        for name in ("small", "large")
        for task, truth in (("plain", ""), ("bounded", "bounded_"))
    ]
    data.report("DuckDB, no privacy", importlib.metadata.version("duckdb"), runs)


if __name__ == "__main__":
    main()
