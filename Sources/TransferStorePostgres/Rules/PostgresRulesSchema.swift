import TransferStore

/// The tables of the rules that all workers of a queue keep together.
package enum PostgresRulesSchema {
    package static let step = PostgresSchema.Step(
        "rules",
        """
        -- The tags of workers, and those that jobs ask of theirs (WorkerTags): names with commas between them.
        ALTER TABLE process ADD COLUMN tags TEXT NOT NULL DEFAULT '';
        ALTER TABLE job ADD COLUMN tags TEXT NOT NULL DEFAULT '';
        -- The processes that have had the job, by the names of partial files (PartOwner).
        ALTER TABLE job ADD COLUMN part_owners TEXT[] NOT NULL DEFAULT '{}';
        -- A worker passes over what it hasn't the tags for without a look at it.
        DROP INDEX job_ready;
        CREATE INDEX job_ready ON job(batch, origin, network, tags, priority DESC, id) WHERE state = \(JobStates.queued);
        CREATE INDEX job_tagged ON job(batch, tags) WHERE tags <> '';
        -- When the next request may start at an origin with a rate, in microseconds since 1970.
        CREATE TABLE origin_pace (origin TEXT PRIMARY KEY, free BIGINT NOT NULL);
        """)
}
