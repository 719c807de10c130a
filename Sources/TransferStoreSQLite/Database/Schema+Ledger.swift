extension Schema {
    /// The upload history: which versions of which files of watched folders have been staged and confirmed.
    package static let history = """
        CREATE TABLE watchedFolder (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            path TEXT NOT NULL UNIQUE,
            -- The batch of its jobs. It may be forgotten; what has been uploaded may not.
            batch INTEGER,
            -- When it was watched for the first time, in nanoseconds since 1970.
            since INTEGER NOT NULL,
            -- Something is done with a confirmed file after so many milliseconds; NULL: it's kept.
            thenAfter INTEGER,
            verifies INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE ledger (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            folder INTEGER NOT NULL REFERENCES watchedFolder(id) ON DELETE CASCADE,
            device INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            size INTEGER NOT NULL,
            -- Nanoseconds since 1970.
            modified INTEGER NOT NULL,
            path TEXT NOT NULL,
            url TEXT NOT NULL,
            -- LedgerState
            state INTEGER NOT NULL,
            -- Until it's confirmed.
            job INTEGER,
            -- Empty: it couldn't be computed while the file was this version.
            digest TEXT,
            -- Milliseconds since 1970, as all times below.
            staged INTEGER NOT NULL,
            confirmed INTEGER,
            -- When it's to be moved or deleted.
            due INTEGER,
            -- Since when it isn't at its path.
            gone INTEGER
        );
        CREATE INDEX ledgerVersion ON ledger(folder, inode, size);
        CREATE INDEX ledgerPath ON ledger(folder, path) WHERE job IS NOT NULL;
        CREATE INDEX ledgerURL ON ledger(folder, url) WHERE job IS NOT NULL;
        CREATE INDEX ledgerDue ON ledger(folder, due) WHERE due IS NOT NULL;
        CREATE INDEX ledgerUndigested ON ledger(folder, id) WHERE state = 1 AND digest IS NULL;
        CREATE INDEX ledgerGone ON ledger(folder, gone) WHERE gone IS NOT NULL;
        -- The version that a job uploads, and the job that has to end before this one starts.
        ALTER TABLE job ADD COLUMN ledger INTEGER;
        ALTER TABLE job ADD COLUMN follows INTEGER;
        CREATE INDEX jobLedger ON job(ledger) WHERE ledger IS NOT NULL;
        CREATE INDEX jobWatchedOpen ON job(batch) WHERE ledger IS NOT NULL AND state < 5;
        CREATE INDEX jobWatchedDone ON job(batch, endSequence) WHERE ledger IS NOT NULL AND state = 5;
        CREATE INDEX jobFollows ON job(follows) WHERE follows IS NOT NULL;
        """
}
