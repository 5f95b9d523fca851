"""Damages a database the way a failing disk would: one place of one run's rows per call.

    damage.py DATABASE RUN              prints how many places there are
    damage.py DATABASE RUN NUMBER       damages the place of that number and prints which it was

A place is one character of a text column or one number of one row that belongs to the run, or to the
definition that only this run is pinned to.
"""

import sqlite3
import sys

# How many characters of one text are places of their own, spread over it.
SPREAD = 5
TABLES = [
    ("events", "run = ?"),
    ("nodes", "run = ?"),
    ("attempts", "run = ?"),
    ("pins", "run = ?"),
    ("runs", "id = ?"),
    ("definitions", "hash IN (SELECT hash FROM pins WHERE run = ?)"),
]
# What a run is found by: without it the rows are nobody's, which is another kind of damage.
NAMES = {("events", "run"), ("nodes", "run"), ("attempts", "run"), ("pins", "run"), ("runs", "id")}


def places(database, run):
    found = []
    for table, where in TABLES:
        names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        rows = database.execute(f"SELECT * FROM {table} WHERE {where}", [run]).fetchall()
        for row in rows:
            for name, value in zip(names, row):
                if value is None or (table, name) in NAMES or name == "pos":
                    continue
                if isinstance(value, str):
                    step = max(1, len(value) // SPREAD)
                    found += [(table, names, row, name, at) for at in range(0, len(value), step)]
                else:
                    found.append((table, names, row, name, None))
    return found


def damaged(value, at):
    if at is None:
        return value ^ 1
    other = "#" if value[at] != "#" else "%"
    return value[:at] + other + value[at + 1 :]


def main():
    path, run, *number = sys.argv[1:]
    database = sqlite3.connect(path)
    found = places(database, run)
    if not number:
        print(len(found))
        return
    table, names, row, name, at = found[int(number[0])]
    value = row[names.index(name)]
    same = " AND ".join(f"{column} IS ?" for column in names)
    database.execute(
        f"UPDATE OR IGNORE {table} SET {name} = ? WHERE {same}", [damaged(value, at), *row]
    )
    database.commit()
    database.close()
    print(f"{table}.{name} at {at}: {str(value)[:80]}")


main()
