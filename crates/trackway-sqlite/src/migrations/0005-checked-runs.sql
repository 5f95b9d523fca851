-- What shows that the row of a run is whole. `head` is the number of the run's newest event when the row
-- was written, by which a log that seems to end too early is noticed; every append to a guided run
-- writes it. `crc` is the checksum of the row. Rows from before have neither until they change.
ALTER TABLE runs ADD COLUMN head INTEGER;
ALTER TABLE runs ADD COLUMN crc INTEGER;
