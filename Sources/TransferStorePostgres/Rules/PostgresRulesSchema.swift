import TransferStore

/// The tables of the rules that all workers of a queue keep together.
package enum PostgresRulesSchema {
    package static let levels = PostgresSchema.Step(
        "levels",
        """
        -- How many jobs of an origin all workers may have (OriginLevel), where they find it out.
        CREATE TABLE origin_level (origin TEXT PRIMARY KEY, level TEXT NOT NULL);
        -- The places at origins that workers have, and could use.
        CREATE TABLE origin_place (
            process BIGINT NOT NULL REFERENCES process(generation) ON DELETE CASCADE,
            origin TEXT NOT NULL,
            held INTEGER NOT NULL,
            wanted INTEGER NOT NULL,
            PRIMARY KEY (process, origin)
        );
        CREATE INDEX origin_place_origin ON origin_place(origin);
        -- Workers counted the jobs under way before.
        DROP INDEX job_claimed;
        """)

    package static let step = PostgresSchema.Step(
        "rules",
        """
        -- The tags of workers, and those that jobs ask of theirs (WorkerTags): names with commas between them.
        ALTER TABLE process ADD COLUMN tags TEXT NOT NULL DEFAULT '';
        ALTER TABLE job ADD COLUMN tags TEXT NOT NULL DEFAULT '';
        -- The processes that have had the job, by the names of partial files (PartOwner).
        ALTER TABLE job ADD COLUMN part_owners TEXT[] NOT NULL DEFAULT '{}';
        -- A worker passes over what it has not the tags for without a look at it.
        DROP INDEX job_ready;
        CREATE INDEX job_ready ON job(batch, origin, network, tags, priority DESC, id) WHERE state = \(JobStates.queued);
        CREATE INDEX job_tagged ON job(batch, tags) WHERE tags <> '';
        -- When the next request may start at an origin with a rate, in microseconds since 1970.
        CREATE TABLE origin_pace (origin TEXT PRIMARY KEY, free BIGINT NOT NULL);
        """)
}
