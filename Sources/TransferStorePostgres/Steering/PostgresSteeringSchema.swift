import TransferStore

/// The columns of what is asked of jobs, and of what follows from it.
package enum PostgresSteeringSchema {
    package static let step = PostgresSchema.Step(
        "steering",
        """
        -- A pause or a cancellation that is asked of the process that has the job claimed. It means nothing in other states.
        ALTER TABLE job ADD COLUMN asked TEXT;
        -- When a worker is to tell the server of a cancelled upload to drop what it holds; NULL where there is nothing to tell.
        ALTER TABLE job ADD COLUMN drop_after BIGINT;
        UPDATE job SET drop_after = 0 WHERE state = \(JobStates.cancelled) AND upload IS NOT NULL;
        CREATE INDEX job_drops ON job(drop_after) WHERE drop_after IS NOT NULL;
        -- How single transfers stand, while somebody watches (RunProgress.Row).
        ALTER TABLE run ADD COLUMN told BIGINT[] NOT NULL DEFAULT '{}';
        """)
}
