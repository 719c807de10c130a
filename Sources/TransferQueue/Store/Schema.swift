import GRDB

/// The tables of the queue, and their changes from version to version.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    -- Programs that work on this queue. One is alive while a process of that number, started at that
                    -- time in this boot, exists.
                    CREATE TABLE process (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        pid INTEGER NOT NULL,
                        started INTEGER NOT NULL,
                        boot TEXT NOT NULL,
                        socket TEXT
                    );
                    CREATE TABLE batch (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        name TEXT NOT NULL UNIQUE,
                        source TEXT,
                        directory TEXT NOT NULL,
                        generation INTEGER NOT NULL DEFAULT 0,
                        hasNeeds INTEGER NOT NULL DEFAULT 0,
                        owner INTEGER,
                        rate INTEGER NOT NULL DEFAULT 0,
                        eta INTEGER,
                        waitingFor TEXT,
                        updated INTEGER NOT NULL
                    );
                    CREATE TABLE job (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        batch INTEGER NOT NULL REFERENCES batch(id) ON DELETE CASCADE,
                        identity TEXT NOT NULL,
                        generation INTEGER NOT NULL,
                        -- Where the job file names the destination, for faults and for `transfer why`.
                        line INTEGER,
                        column INTEGER,
                        width INTEGER,
                        number INTEGER,
                        state INTEGER NOT NULL,
                        priority INTEGER NOT NULL,
                        origin TEXT NOT NULL,
                        destination TEXT NOT NULL,
                        spec TEXT NOT NULL,
                        isUpload INTEGER NOT NULL,
                        fingerprint INTEGER NOT NULL,
                        hasSecrets INTEGER NOT NULL DEFAULT 0,
                        needsLeft INTEGER NOT NULL DEFAULT 0,
                        owner INTEGER,
                        isSending INTEGER NOT NULL DEFAULT 0,
                        wasInterrupted INTEGER NOT NULL DEFAULT 0,
                        mustRefresh INTEGER NOT NULL DEFAULT 0,
                        attempts INTEGER NOT NULL DEFAULT 0,
                        mirror INTEGER NOT NULL DEFAULT 0,
                        spentMirrors INTEGER NOT NULL DEFAULT 0,
                        notBefore INTEGER,
                        resume TEXT,
                        path TEXT,
                        size INTEGER,
                        modified INTEGER,
                        digest TEXT,
                        validator TEXT,
                        transferred INTEGER,
                        seconds REAL,
                        finalURL TEXT,
                        status INTEGER,
                        response TEXT,
                        errorCode TEXT,
                        errorMessage TEXT,
                        host TEXT,
                        endSequence INTEGER,
                        ended INTEGER
                    );
                    CREATE UNIQUE INDEX jobIdentity ON job(batch, identity);
                    CREATE INDEX jobReady ON job(batch, origin, priority DESC, id) WHERE state = 0;
                    CREATE INDEX jobEnds ON job(endSequence) WHERE endSequence IS NOT NULL;
                    CREATE INDEX jobOwner ON job(owner) WHERE owner IS NOT NULL;
                    CREATE TABLE need (
                        job INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
                        needed INTEGER NOT NULL,
                        PRIMARY KEY (needed, job)
                    ) WITHOUT ROWID;
                    CREATE TABLE command (
                        id INTEGER PRIMARY KEY AUTOINCREMENT,
                        process INTEGER NOT NULL,
                        verb TEXT NOT NULL,
                        batch INTEGER NOT NULL,
                        job TEXT
                    );
                    -- Sockets of programs that wait for a batch to end.
                    CREATE TABLE listener (batch INTEGER NOT NULL, socket TEXT NOT NULL);
                    -- Origins that asked to be left alone until then (milliseconds since 1970).
                    CREATE TABLE pause (origin TEXT PRIMARY KEY, until INTEGER NOT NULL, status INTEGER, message TEXT);
                    CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
                    INSERT INTO counter VALUES ('end', 0);
                    """)
        }
        migrator.registerMigration("network places") { db in
            // Where the job file sets the rules of the network, as `metered=9:18`; for `transfer why`.
            try db.execute(sql: "ALTER TABLE job ADD COLUMN networkPlaces TEXT")
        }
        migrator.registerMigration("network lanes") { db in
            try db.execute(
                sql: """
                    -- The rules of its network, as text: jobs with the same ones are claimed together.
                    ALTER TABLE job ADD COLUMN network TEXT NOT NULL DEFAULT '';
                    DROP INDEX jobReady;
                    CREATE INDEX jobReady ON job(batch, origin, network, priority DESC, id) WHERE state = 0;
                    -- What metered links carried: by kind of link, and by hour of the local clock since 1970.
                    CREATE TABLE meteredUsage (
                        kind TEXT NOT NULL,
                        hour INTEGER NOT NULL,
                        bytes INTEGER NOT NULL,
                        PRIMARY KEY (kind, hour)
                    ) WITHOUT ROWID;
                    -- Links whose connections got no answer, as the process that runs sees it.
                    CREATE TABLE silentLink (
                        name TEXT PRIMARY KEY,
                        since INTEGER NOT NULL,
                        unanswered INTEGER NOT NULL,
                        isBlamed INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("network waits") { db in
            try db.execute(
                sql: """
                    -- Since when rules of the network let nothing start, as the process that runs sees it.
                    CREATE TABLE networkWait (
                        process INTEGER NOT NULL REFERENCES process(id) ON DELETE CASCADE,
                        network TEXT NOT NULL,
                        since INTEGER NOT NULL,
                        reason TEXT NOT NULL,
                        PRIMARY KEY (process, network)
                    ) WITHOUT ROWID;
                    -- Transfers under way, as far as the last report says.
                    ALTER TABLE batch ADD COLUMN active INTEGER NOT NULL DEFAULT 0;
                    """)
        }
        migrator.registerMigration("uploads") { db in
            // What an upload that was broken off left behind (UploadRecord), for the next attempt.
            try db.execute(sql: "ALTER TABLE job ADD COLUMN upload TEXT")
        }
        migrator.registerMigration("watched folders") { db in try db.execute(sql: Schema.ledger) }
        migrator.registerMigration("claims") { db in
            // When a process took it (milliseconds since 1970); of one that died with it, when that did.
            try db.execute(sql: "ALTER TABLE job ADD COLUMN claimed INTEGER")
        }
        migrator.registerMigration("files that come back") { db in
            try db.execute(
                sql: """
                    -- What isn't at its path keeps its time, and isn't looked for until it's there again.
                    DROP INDEX ledgerDue;
                    CREATE INDEX ledgerDue ON ledger(folder, due) WHERE due IS NOT NULL AND gone IS NULL;
                    """)
        }
        migrator.registerMigration("paused folders") { db in
            // What a folder brings while its batch is paused is paused too.
            try db.execute(sql: "ALTER TABLE watchedFolder ADD COLUMN isPaused INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("renamed files") { db in
            try db.execute(
                sql: """
                    -- A confirmed file that has another name now: another one of its former name takes its URL.
                    ALTER TABLE ledger ADD COLUMN isRenamed INTEGER NOT NULL DEFAULT 0;
                    CREATE INDEX ledgerRenamed ON ledger(folder, url) WHERE isRenamed;
                    """)
        }
        migrator.registerMigration("targets of watched folders") { db in
            // The URL template, redacted, to tell when another one is named.
            try db.execute(sql: "ALTER TABLE watchedFolder ADD COLUMN url TEXT")
        }
        migrator.registerMigration("reserves") { db in
            try db.execute(
                sql: """
                    -- The process that took jobs of it when it put them in: those that are claimed and nobody's.
                    ALTER TABLE batch ADD COLUMN reserve INTEGER;
                    -- Which of those may have started, and when: up to the last one, of those with that origin and network.
                    CREATE TABLE opened (
                        batch INTEGER NOT NULL REFERENCES batch(id) ON DELETE CASCADE,
                        origin TEXT NOT NULL,
                        network TEXT NOT NULL,
                        last INTEGER NOT NULL,
                        since INTEGER NOT NULL,
                        PRIMARY KEY (batch, origin, network, last)
                    ) WITHOUT ROWID;
                    """)
        }
        return migrator
    }
}
