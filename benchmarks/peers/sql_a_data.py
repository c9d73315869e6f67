"""The tables of `cargo xtask bench sql`, and what its peers share; prints a JSON document.

It comes first in the alphabet, so the tables are there when a peer runs. The others import it for
the task's parameters, for `measured` (a fresh process for each run) and for `environment` (a
virtual environment of their own: OpenDP, SmartNoise and Qrlew each need another numpy or opendp).

A table has columns `person` int64, `grp` int32 and `value` float64 in [0, 100], and lies in
`<target>/bench/sql/` as Parquet, with `<name>.json` beside it. It is made again only if that file
holds other parameters than these.
- Activity is uneven: one row for each person, the others for `floor(people · u^1.5)`; ten on average.
- Groups are uneven: `floor(groups · u^2)`, but three rows in ten fall in the person's own group,
  so both bounds drop rows: the one on groups a third of all, the one on rows a few.
- `even` is `small` for people of equal activity who have five groups: next to nothing is dropped,
  so all of an error is noise.

What is exact, for each group:
- `count`, `sum`: without bounds;
- `bounded_count`, `bounded_sum`: the expectation if each person keeps GROUPS of its groups, and
  ROWS rows in each, drawn uniformly. `*_sampling_mae`: how far one such draw is from it, in the
  mean over groups, by the normal approximation. It is the error that is left without noise.
- `rows_count`, `rows_sum`: the expectation if each person keeps GROUPS · ROWS rows in all, drawn
  uniformly: the bound of an engine that knows no other (SmartNoise). Its noise has the same scale.
- `lowest_count`, `lowest_sum`: the expectation if each person keeps its GROUPS − 1 lowest groups,
  and ROWS rows in each, drawn uniformly: what OpenDP keeps (sql_opendp.py says why).

`DEMURE_BENCH_HUGE=1` makes `huge` as well: 100 M rows in ten files, one chunk in memory at a time.
"""

import json
import os
import pathlib
import subprocess
import sys

# Nothing large is imported here: a child's peak memory is at least what its parent held at the fork.

EPSILON = 1.0  # for counts and sums together
GROUPS = 5  # per person
ROWS = 10  # per person and group
LOWER, UPPER = 0.0, 100.0
RUNS = 3

CHUNK = 1_000_000
CHUNKS_A_FILE = 10
TABLES = {
    "small": {"rows": 1_000_000, "people": 100_000, "groups": 50, "seed": 1},
    "even": {"rows": 1_000_000, "people": 100_000, "groups": 50, "seed": 4},
    "large": {"rows": 10_000_000, "people": 1_000_000, "groups": 100, "seed": 2},
    "huge": {"rows": 100_000_000, "people": 10_000_000, "groups": 100, "seed": 3},
}
RECIPE = 2  # to be raised when `chunk` or `exact` changes


def target():
    """The target directory: xtask's environment is in it; by hand, where cargo would have it."""
    prefix = pathlib.Path(sys.prefix)
    if prefix.name == "bench-venv" or prefix.name.startswith("bench-venv-"):
        return prefix.parent
    root = pathlib.Path(__file__).resolve().parents[2]
    return root / os.environ.get("CARGO_TARGET_DIR", "target")


def place():
    return target() / "bench" / "sql"


def files(name):
    count = -(-TABLES[name]["rows"] // (CHUNK * CHUNKS_A_FILE))
    if count == 1:
        return [str(place() / f"{name}.parquet")]
    return [str(place() / name / f"{part:03}.parquet") for part in range(count)]


def table(name):
    """What `<name>.json` says: parameters, files and exact answers."""
    path = place() / f"{name}.json"
    if not path.exists():
        sys.exit(f"{path} is missing\nhint: run benchmarks/peers/sql_a_data.py first")
    return json.loads(path.read_text())


# Peers


def environment(name, *requirements):
    """The Python of a virtual environment with `requirements`, beside the one that xtask made."""
    folder = target() / f"bench-venv-sql-{name}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "installed"
    wanted = "\n".join(requirements)
    if not (python.exists() and stamp.exists() and stamp.read_text() == wanted):
        print(f"── installing {', '.join(requirements)} in {folder}", file=sys.stderr)
        quiet = {"check": True, "stdout": sys.stderr}
        base = getattr(sys, "_base_executable", sys.executable)
        subprocess.run([base, "-m", "venv", folder], **quiet)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *requirements], **quiet)
        stamp.write_text(wanted)
    return str(python)


def measured(python, script, task, name, runs=RUNS, **more):
    """`script --task <task> <name>` in `runs` fresh processes; the least CPU time and memory count.

    CPU seconds are user and system, of the whole process and those it waited for: its start,
    imports and reading the table are in it, and told apart by what the child prints,
    {"import_cpu_s", "load_cpu_s", "count": {group: …}, "sum": {group: …}}.

    `*_mae` is against the exact answer under the bounds that the peer keeps, which `truth` names;
    `*_mae_unbounded` against that without bounds: what its user is off by, bias and noise together.
    """
    known = table(name)
    seen = []
    for _ in range(runs):
        child = subprocess.Popen([python, script, "--task", task, name], stdout=subprocess.PIPE)
        text = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise RuntimeError(f"{task} on {name} ended with {child.returncode}")
        run = json.loads(text)
        run["cpu_s"] = usage.ru_utime + usage.ru_stime
        run["peak_mb"] = usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
        seen.append(run)
        print(
            f"{pathlib.Path(script).stem} {task} {name}: {run['cpu_s']:.2f} CPU s"
            f" ({run.get('import_cpu_s', 0):.2f} imports, {run.get('load_cpu_s', 0):.2f} load),"
            f" {run['peak_mb']:.0f} MB, {len(run['count'])} groups",
            file=sys.stderr,
        )
    truth = more.pop("truth", "bounded_")
    result = {
        "task": f"{name} {task}",
        "cpu_s": round(min(run["cpu_s"] for run in seen), 3),
        "peak_mb": round(min(run["peak_mb"] for run in seen), 1),
        "groups": min(len(run["count"]) for run in seen),
        "runs": runs,
    }
    for field in ("import_cpu_s", "load_cpu_s"):
        if all(field in run for run in seen):
            result[field] = round(min(run[field] for run in seen), 3)
    for what in ("count", "sum"):
        result[f"{what}_mae"] = error(seen, what, known["truth"][truth + what])
        result[f"{what}_mae_unbounded"] = error(seen, what, known["truth"][what])
    result["truth"] = truth + "count"
    return {**result, **more}


def error(seen, what, exact):
    """The mean absolute error over runs and the groups that came back."""
    errors = [abs(value - exact[int(group)]) for run in seen for group, value in run[what].items()]
    return round(sum(errors) / len(errors), 3) if errors else None


def cpu():
    """CPU seconds of this process so far, and of those it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def answer(imports, load, rows):
    """What a child prints: `rows` are (group, count, sum)."""
    rows = [(int(group), float(count), float(total)) for group, count, total in rows]
    document = {
        "import_cpu_s": imports,
        "load_cpu_s": load,
        "count": {group: count for group, count, _ in rows},
        "sum": {group: total for group, _, total in rows},
    }
    print(json.dumps(document))


def report(peer, version, runs):
    """The document of a peer."""
    json.dump({"peer": peer, "version": version, "runs": runs}, sys.stdout, indent=1)
    print()


def installed(peer, version, *requirements):
    """The Python of `environment`. If it cannot be made, the peer says so, and the rest goes on."""
    try:
        return environment(peer.split()[0].lower(), *requirements)
    except (subprocess.CalledProcessError, OSError) as error:
        reason = f"{' '.join(requirements)} cannot be installed: {error}"
        json.dump({"peer": peer, "version": version, "unavailable": reason}, sys.stdout, indent=1)
        print()
        sys.exit(0)


# The tables


def chunk(numpy, name, index):
    """Rows CHUNK · index and on: persons, groups and values."""
    of = TABLES[name]
    rows, people, groups = of["rows"], of["people"], of["groups"]
    begin, end = CHUNK * index, min(CHUNK * (index + 1), rows)
    size = end - begin
    draw = numpy.random.Generator(numpy.random.PCG64([of["seed"], index])).random
    even = name == "even"
    person = numpy.floor(people * draw(size) ** (1 if even else 1.5)).astype(numpy.int64)
    # One row for each person, spread over the chunks.
    sure = numpy.arange(people * begin // rows, people * end // rows)
    person[: len(sure)] = sure
    person = person[numpy.argsort(draw(size), kind="stable")]
    group = numpy.floor(groups * draw(size) ** 2).astype(numpy.int32)
    own = (person * 2654435761 >> 7) % groups
    if even:
        group = (own + numpy.floor(GROUPS * draw(size)).astype(numpy.int64)) % groups
    else:
        group = numpy.where(draw(size) < 0.3, own, group)
    group = group.astype(numpy.int32)
    value = LOWER + (UPPER - LOWER) * draw(size) ** 2
    return person, group, value


def make(name):
    """Writes the files of a table; returns the groups' counts and sums."""
    import numpy
    import pyarrow
    from pyarrow import parquet

    of = TABLES[name]
    names = ["person", "grp", "value"]
    count = numpy.zeros(of["groups"], numpy.int64)
    total = numpy.zeros(of["groups"])
    chunks = range(-(-of["rows"] // CHUNK))
    for part, path in enumerate(files(name)):
        path = pathlib.Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        begun = path.with_suffix(".part")
        writer = None
        for index in chunks[part * CHUNKS_A_FILE : (part + 1) * CHUNKS_A_FILE]:
            person, group, value = chunk(numpy, name, index)
            count += numpy.bincount(group, minlength=of["groups"])
            total += numpy.bincount(group, value, minlength=of["groups"])
            rows = pyarrow.table([person, group, value], names=names)
            writer = writer or parquet.ParquetWriter(begun, rows.schema)
            writer.write_table(rows, row_group_size=131_072)
        writer.close()
        begun.replace(path)
    return count.tolist(), total.tolist()


def exact(name):
    """The answers that the documentation above names, by group."""
    import duckdb

    query = f"""
        WITH pair AS (
            SELECT person, grp, count(*) AS n, sum(value) AS s, coalesce(var_samp(value), 0) AS v
            FROM read_parquet($files) GROUP BY person, grp),
        one AS (
            SELECT person, least(1, {GROUPS} / count(*)) AS p,
                least(1, {GROUPS * ROWS} / sum(n)) AS q
            FROM pair GROUP BY person),
        kept AS (
            SELECT grp, n, s, p, q, dense_rank() OVER (PARTITION BY person ORDER BY grp) AS g,
                least(n, {ROWS}) AS m, s * least(1, {ROWS} / n) AS e,
                least(n, {ROWS}) * v * greatest(0, 1 - {ROWS} / n) AS d
            FROM pair JOIN one USING (person))
        SELECT sum(n)::BIGINT, sum(s), sum(m * p), sum(e * p), sum(n * q), sum(s * q),
            coalesce(sum(m) FILTER (g < {GROUPS}), 0), coalesce(sum(e) FILTER (g < {GROUPS}), 0),
            sqrt(2 / pi() * sum(m * m * p * (1 - p))),
            sqrt(2 / pi() * sum(p * (d + e * e) - p * p * e * e)),
            count(*), count(*) FILTER (n > {ROWS})
        FROM kept GROUP BY grp ORDER BY grp"""
    config = {"memory_limit": "6GB", "temp_directory": str(place() / "spilled")}
    with duckdb.connect(config=config) as connection:
        columns = list(zip(*connection.execute(query, {"files": files(name)}).fetchall()))
    kinds = ("", "bounded_", "rows_", "lowest_")
    names = [kind + what for kind in kinds for what in ("count", "sum")]
    truth = {key: list(map(float, column)) for key, column in zip(names, columns)}
    for key, column in zip(("count_sampling_mae", "sum_sampling_mae"), columns[8:10]):
        truth[key] = sum(column) / len(column)
    truth["pairs"], truth["pairs_over"] = sum(columns[10]), sum(columns[11])
    return truth


def main():
    place().mkdir(parents=True, exist_ok=True)
    names = ["small", "even", "large"] + ["huge"] * (os.environ.get("DEMURE_BENCH_HUGE") == "1")
    tables = []
    for name in names:
        parameters = {**TABLES[name], "recipe": RECIPE, "kept_groups": GROUPS, "kept_rows": ROWS}
        stamp = place() / f"{name}.json"
        try:
            known = json.loads(stamp.read_text())
            fresh = known["parameters"] == parameters and all(map(os.path.exists, known["files"]))
        except (OSError, ValueError, KeyError):
            fresh = False
        if not fresh:
            print(f"making {name}: {parameters['rows']:,} rows", file=sys.stderr)
            count, total = make(name)
            truth = exact(name)
            close = all(abs(a - b) <= 1e-9 * b for a, b in zip(truth["sum"], total, strict=True))
            if truth["count"] != count or not close:
                sys.exit(f"{name}: what was read is not what was written")
            known = {"table": name, "parameters": parameters, "files": files(name), "truth": truth}
            stamp.write_text(json.dumps(known))
        tables.append(known)
    task = {"epsilon": EPSILON, "groups": GROUPS, "rows": ROWS, "lower": LOWER, "upper": UPPER}
    json.dump({"peer": "data", "folder": str(place()), "task": task, "tables": tables}, sys.stdout)
    print()


if __name__ == "__main__":
    main()
