"""Runs queries in Spark's local mode. Each file named has a list of statements, as JSON; the rows of the last go to FILE.rows."""

import json
import sys

from pyspark.sql import SparkSession

session = (
    SparkSession.builder.master("local[2]")
    .appName("merchant-rules")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.driver.memory", "3g")
    .getOrCreate()
)
session.sparkContext.setLogLevel("OFF")
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        statements = json.load(file)
    for statement in statements[:-1]:
        session.sql(statement)
    rows = session.sql(statements[-1]).collect()
    with open(name + ".rows", "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row.asDict(True), default=str) + "\n")
session.stop()
