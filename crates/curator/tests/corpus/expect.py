#!/usr/bin/env python3
"""Writes the expected answers of the corpus: what DuckDB (or PostgreSQL) answers on the same tables.

    CORPUS_TABLES=/tmp/tables cargo test -p demure-curator --test corpus
    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install duckdb
    /tmp/venv/bin/python crates/curator/tests/corpus/expect.py /tmp/tables

The statements after `--- duckdb` or `--- postgres` are run instead of the record's own, if there are any. Answers
after `--- by hand` stay as they are; statements that are to be refused have none. PostgreSQL is asked through `psql`,
in the database that `PGDATABASE` and its like name; it gets a schema for each of ours.
"""
import csv
import datetime
import decimal
import io
import pathlib
import subprocess
import sys

import duckdb

HOME = pathlib.Path(__file__).resolve().parent
SCHEMAS = ["tpch", "web", "survey"]

# Demure's CLAMP keeps NULL; least and greatest of the others leave it out.
MACROS = """
CREATE MACRO clamp(x, low, high) AS CASE WHEN x IS NOT NULL THEN least(greatest(x, low), high) END;
"""


def cell(value):
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (float, decimal.Decimal)):
        return repr(float(value))
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    return str(value)


def ask_duckdb(connection, sql):
    found = connection.execute(sql)
    rows = found.fetchall()
    names = [column[0] for column in found.description]
    return names, [[cell(value) for value in row] for row in rows]


def ask_postgres(schema, sql):
    command = ["psql", "-X", "-q", "--csv", "-v", "ON_ERROR_STOP=1", "-P", "null=NULL"]
    text = f"SET search_path = corpus_{schema}; SET datestyle = ISO;\n{sql};"
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    rows = list(csv.reader(io.StringIO(done.stdout)))
    return rows[0], rows[1:]


def fill_postgres(schema, folder):
    text = (HOME / f"{schema}.schema.sql").read_text()
    text = text.replace("DOUBLE", "DOUBLE PRECISION")
    lines = [f"SET client_min_messages = error; DROP SCHEMA IF EXISTS corpus_{schema} CASCADE; CREATE SCHEMA corpus_{schema};"]
    lines.append(f"SET search_path = corpus_{schema};\n{text}")
    lines.append(
        "CREATE FUNCTION clamp(x double precision, low double precision, high double precision) "
        "RETURNS double precision LANGUAGE SQL STRICT AS 'SELECT least(greatest(x, low), high)';"
    )
    for file in sorted(folder.glob("*.csv")):
        lines.append(f"\\copy {file.stem} FROM '{file}' WITH (FORMAT csv, HEADER)")
    command = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1"]
    subprocess.run(command, input="\n".join(lines), text=True, check=True)


def fill_duckdb(schema, folder):
    connection = duckdb.connect()
    connection.execute("CREATE SCHEMA public")
    connection.execute((HOME / f"{schema}.schema.sql").read_text() + MACROS)
    for file in sorted(folder.glob("*.csv")):
        connection.execute(f"COPY {file.stem} FROM '{file}' (FORMAT csv, HEADER)")
        # Tools write "public"."events".
        connection.execute(f"CREATE VIEW public.{file.stem} AS SELECT * FROM main.{file.stem}")
    return connection


class Record:
    def __init__(self, name):
        self.name, self.head, self.sql, self.reference = name, [], [], []
        self.expected, self.tail = None, []

    def text(self):
        lines = [f"=== {self.name}", *self.head, *self.sql, *self.reference]
        if self.expected is not None:
            lines += ["----", *self.expected]
        return lines + self.tail


def read(text):
    top, records, part = [], [], 0
    for line in text.splitlines():
        if line.startswith("=== "):
            records.append(Record(line[4:]))
            part = 0
        elif not records:
            top.append(line)
        elif line == "" or line.startswith("#"):
            records[-1].tail.append(line)
        elif line.startswith(("mark: ", "compare: ")) and part == 0:
            records[-1].head.append(line)
        elif line == "----":
            part, records[-1].expected = 3, []
        elif part == 3:
            records[-1].expected.append(line)
        elif line.startswith("--- ") or part == 2:
            part = 2
            records[-1].reference.append(line)
        else:
            part = 1
            records[-1].sql.append(line)
    return top, records


def main():
    folder = pathlib.Path(sys.argv[1])
    failed = 0
    for schema in SCHEMAS:
        file = HOME / f"{schema}.sql.txt"
        top, records = read(file.read_text())
        connection = fill_duckdb(schema, folder / schema)
        if any(record.reference[:1] == ["--- postgres"] for record in records):
            fill_postgres(schema, folder / schema)
        for record in records:
            engine = record.reference[0][4:] if record.reference else "duckdb"
            refused = ("mark: refused", "mark: open refusal")
            if any(line.startswith(refused) for line in record.head):
                record.expected = None
                continue
            if engine == "by hand":
                continue
            sql = "\n".join(record.reference[1:]) or "\n".join(record.sql)
            try:
                if engine == "postgres":
                    names, rows = ask_postgres(schema, sql)
                else:
                    names, rows = ask_duckdb(connection, sql)
            except Exception as error:  # one statement of many: say which, and go on
                print(f"{schema}: {record.name}: {str(error).splitlines()[0]}", file=sys.stderr)
                failed += 1
                continue
            ordered = any("ordered" in line for line in record.head)
            rows = rows if ordered else sorted(rows)
            record.expected = [" | ".join(row) for row in [names, *rows]]
        lines = top + [line for record in records for line in record.text()]
        file.write_text("\n".join(lines) + "\n")
        print(f"{schema}: {len(records)} statements")
    sys.exit(1 if failed else 0)


main()
