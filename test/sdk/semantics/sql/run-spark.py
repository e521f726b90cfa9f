"""Runs queries in Spark's local mode: for each FILE.sql given, the rows as JSON lines into FILE.rows."""

import json
import sys
import time

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
    began = time.time()
    with open(name, encoding="utf-8") as file:
        statements = json.load(file)
    for statement in statements[:-1]:
        session.sql(statement)
    rows = session.sql(statements[-1]).collect()
    with open(name + ".rows", "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row.asDict(True), default=str) + "\n")
    print(name, len(rows), "rows", round(time.time() - began, 1), "s", flush=True)
session.stop()
