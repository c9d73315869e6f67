"""psycopg 3, asyncpg and SQLAlchemy against a running server: PORT PASSWORD."""

import asyncio
import datetime
import sys
import threading
import time

import asyncpg
import psycopg
import sqlalchemy

port, password = sys.argv[1:]
dsn = f"host=127.0.0.1 port={port} user=ana dbname=clinic password='{password}'"


def near(value, expected, within):
    assert abs(value - expected) <= within, (value, expected)


def refused(error, *words):
    for word in words:
        assert word in str(error), (word, str(error))


# psycopg 3: text and binary, parameters, transactions, notices, errors.
notices = []
with psycopg.connect(dsn) as connection:
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    connection.execute("SET demure.epsilon = 20")
    (count,) = connection.execute("SELECT COUNT(*) FROM stays WHERE age >= %s", (40,)).fetchone()
    near(count, 260, 10)
    assert any("cost ε 20" in notice for notice in notices), notices
    for binary in (False, True):
        with connection.cursor(binary=binary) as cursor:
            cursor.execute(
                "SELECT ward, COUNT(*) AS n, AVG(paid) AS mean FROM stays"
                " WHERE ward <> %s AND paid > %s GROUP BY ward ORDER BY ward",
                ("south", 10.5),
            )
            rows = cursor.fetchall()
            assert [row[0] for row in rows] == ["east", "north"], rows
            assert isinstance(rows[0][1], int) and isinstance(rows[0][2], float), rows
    connection.commit()
    for sql, words in [
        ("SELECT * FROM stays", ["would show rows"]),
        ("SELEC 1", ["SELEC"]),
        ("SELECT COUNT(*) FROM nowhere", ["nowhere"]),
    ]:
        try:
            connection.execute(sql)
            raise AssertionError(sql)
        except psycopg.Error as error:
            refused(error, *words)
            connection.rollback()
    # The connection is as good as before.
    assert connection.execute("SELECT COUNT(*) FROM stays").fetchone()[0] > 0
    # Prepared on the server, and asked with other values.
    for age in (30, 40, 50, 60, 70, 75):
        connection.execute("SELECT COUNT(*) FROM stays WHERE age >= %s", (age,), prepare=True)
    try:
        with connection.cursor() as cursor, cursor.copy("COPY stays TO STDOUT") as copy:
            print(list(copy))
        raise AssertionError("COPY")
    except psycopg.Error:
        connection.rollback()

# Cancelled from another thread: the session goes on.
with psycopg.connect(dsn, autocommit=True) as connection:
    threading.Timer(0.05, connection.cancel).start()
    try:
        for i in range(50):
            connection.execute(f"SELECT COUNT(*) FROM stays WHERE paid < 3{i}.5")
            time.sleep(0.005)
    except psycopg.errors.QueryCanceled:
        pass
    connection.execute("SELECT COUNT(*) FROM stays")


async def with_asyncpg():
    connection = await asyncpg.connect(
        host="127.0.0.1", port=int(port), user="ana", database="clinic", password=password
    )
    await connection.execute("SET demure.epsilon = 20")
    row = await connection.fetchrow("SELECT COUNT(*) AS n FROM stays WHERE age < $1", 40)
    near(row["n"], 141, 10)
    rows = await connection.fetch(
        "SELECT ward, AVG(paid) AS mean FROM stays WHERE paid BETWEEN $1 AND $2 GROUP BY ward",
        10.0,
        50.0,
    )
    assert len(rows) == 3
    try:
        await connection.fetch("SELECT id FROM stays")
        raise AssertionError("rows")
    except asyncpg.PostgresError as error:
        refused(error, "would show rows")
    await connection.close()


asyncio.run(with_asyncpg())

# SQLAlchemy asks for the catalog first.
engine = sqlalchemy.create_engine(
    f"postgresql+psycopg://ana:{password.replace(' ', '%20')}@127.0.0.1:{port}/clinic"
)
with engine.connect() as connection:
    rows = connection.execute(
        sqlalchemy.text("SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward")
    ).fetchall()
    assert len(rows) == 3
inspector = sqlalchemy.inspect(engine)
assert inspector.get_table_names() == ["stays"], inspector.get_table_names()
columns = {column["name"] for column in inspector.get_columns("stays")}
assert columns == {"id", "age", "ward", "paid"}, columns
print("psycopg, asyncpg and SQLAlchemy: all asked and answered")
