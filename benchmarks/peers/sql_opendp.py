"""OpenDP with Polars, for `cargo xtask bench sql`; prints a JSON document.

The context API on a scan of the Parquet file, with public keys. What 0.16.0 does and does not do:
- `truncate_num_groups(keep="sample")`, the default, fails with any key: it makes a struct with
  two fields of the same name, which Polars refuses. `keep="first"` works: a person keeps its
  lowest groups.
- Dense ranks begin at 1 and are compared with `< k`, so k − 1 groups are kept; the noise is for k.

`count+sum` draws the rows that are kept; `count+sum, first rows` takes them as they come.
"""

import sys

import sql_a_data as data

PEER, VERSION = "OpenDP + Polars", "0.16.0"
TASKS = {"count+sum": "sample", "count+sum, first rows": "first"}


def run(task, name):
    import opendp.prelude as dp
    import polars

    imports = data.cpu()
    dp.enable_features("contrib")
    of = data.TABLES[name]
    keys = polars.LazyFrame({"grp": range(of["groups"])}, schema={"grp": polars.Int32})
    margin = dp.polars.Margin(by=["grp"], max_length=of["rows"], max_groups=of["groups"])
    context = dp.Context.compositor(
        data=polars.scan_parquet(data.files(name)),
        privacy_unit=dp.unit_of(contributions=1, identifier=polars.col("person")),
        privacy_loss=dp.loss_of(epsilon=data.EPSILON),
        split_evenly_over=1,
        margins=[margin],
    )
    value = polars.col("value").fill_nan(0.0).fill_null(0.0)
    query = (
        context.query()
        .truncate_per_group(data.ROWS, by=["grp"], keep=TASKS[task])
        .truncate_num_groups(data.GROUPS, by=["grp"], keep="first")
        .group_by("grp")
        .agg(dp.len(signed=True), value.dp.sum((data.LOWER, data.UPPER)))
        .with_keys(keys)
    )
    released = query.release().collect()
    data.answer(imports, 0.0, released.select("grp", "len", "value").rows())


def main():
    if sys.argv[1:2] == ["--task"]:
        return run(*sys.argv[2:])
    python = data.installed(PEER, VERSION, f"opendp[polars]=={VERSION}")
    runs = [data.measured(python, __file__, task, "small", truth="lowest_") for task in TASKS]
    data.report(PEER, VERSION, runs)


if __name__ == "__main__":
    main()
