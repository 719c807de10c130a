import TransferStore

/// The columns of pending commands for jobs, and of their consequences.
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

    package static let submitters = PostgresSchema.Step(
        "submitters",
        """
        -- Processes that bring jobs for others take no commands.
        ALTER TABLE process ADD COLUMN is_submitter BOOLEAN NOT NULL DEFAULT false;
        """)

    package static let replacedUploads = PostgresSchema.Step(
        "replaced uploads",
        """
        -- Uploads that servers hold parts of, and whose jobs have become others or are gone. Their numbers are no jobs'.
        CREATE TABLE replaced_upload (
            id BIGINT PRIMARY KEY DEFAULT nextval('job_id_seq'),
            spec TEXT NOT NULL,
            upload TEXT NOT NULL,
            tags TEXT NOT NULL,
            since BIGINT NOT NULL,
            -- When a worker is to tell the server to drop it.
            drop_after BIGINT NOT NULL
        );
        CREATE INDEX replaced_upload_drops ON replaced_upload(drop_after);
        """)
}
