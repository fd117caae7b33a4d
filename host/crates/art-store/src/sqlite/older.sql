-- Views that add what a database of an older format lacks, for stores that only read and so cannot migrate it.

CREATE TEMP VIEW threads AS SELECT *, NULL AS lease_holder, 0 AS lease_number, 0 AS lease_until FROM main.threads;
CREATE TEMP VIEW runs AS SELECT *, '' AS head FROM main.runs;
CREATE TEMP VIEW journal AS SELECT *, '' AS digest FROM main.journal;
