extension Schema {
    /// The hooks that are called at ends, and the ends that have not been reported yet.
    package static let hooks = """
        -- The hook of the batch and how it's reached (HookRoute); NULL where nobody is told.
        ALTER TABLE batch ADD COLUMN onFinish TEXT;
        -- The last end of a job of it of which its hook's message knows.
        ALTER TABLE batch ADD COLUMN toldEnd INTEGER NOT NULL DEFAULT 0;
        -- Messages that hooks haven't got. They are written with the end that they tell of.
        CREATE TABLE hookCall (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            batch INTEGER NOT NULL REFERENCES batch(id) ON DELETE CASCADE,
            -- The job's identity; NULL for the batch's own end.
            job TEXT,
            -- HookRoute
            hook TEXT NOT NULL,
            event TEXT NOT NULL,
            body TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            -- The process that tells it.
            owner INTEGER,
            -- The end of the wait before the next attempt, as in "job".
            notBefore INTEGER,
            due INTEGER,
            delay INTEGER,
            -- 1: no attempt follows in the run that made the last one.
            isFailed INTEGER NOT NULL DEFAULT 0,
            errorMessage TEXT
        );
        CREATE INDEX hookCallBatch ON hookCall(batch, id);
        """
}
