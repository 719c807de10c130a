package import GRDB
import TransferJobs
import TransferStore

/// The tables of the queue, and their changes from version to version.
package enum Schema {
    package struct Step {
        package let name: String
        package let sql: String

        package init(_ name: String, _ sql: String) {
            self.name = name
            self.sql = sql
        }
    }

    /// The migrations of all versions as one, under the name of the last, so that a new database is made in one
    /// transaction.
    package static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        let names = steps.map(\.name)
        migrator.registerMigration(names[names.count - 1], merging: Set(names)) { db, applied in
            // The name of the last step stands for all steps that were merged into it before.
            let next = steps.lastIndex { applied.contains($0.name) }.map { $0 + 1 } ?? 0
            for step in steps[next...] { try db.execute(sql: step.sql) }
        }
        return migrator
    }

    /// The steps in the order in which versions of this program made them; a new one comes last.
    package static let steps = [
        Step(
            "1",
            """
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
                -- A `DestinationRule.Recheck`.
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
            """),
        // The place where the job file sets the rules of the network, as `metered=9:18`; for `transfer why`.
        Step(
            "network places",
            "ALTER TABLE job ADD COLUMN networkPlaces TEXT"),
        Step(
            "network lanes",
            """
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
            """),
        Step(
            "network waits",
            """
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
            """),
        // The state that an interrupted upload left behind (UploadRecord), for the next attempt.
        Step(
            "uploads",
            "ALTER TABLE job ADD COLUMN upload TEXT"),
        Step(
            "watched folders",
            history),
        // The time of the claim, in milliseconds since 1970; that of the process's end for a job that ended with its
        // process.
        Step(
            "claims",
            "ALTER TABLE job ADD COLUMN claimed INTEGER"),
        Step(
            "files that come back",
            """
            -- What isn't at its path keeps its time, and isn't looked for until it's there again.
            DROP INDEX ledgerDue;
            CREATE INDEX ledgerDue ON ledger(folder, due) WHERE due IS NOT NULL AND gone IS NULL;
            """),
        // Jobs that a folder adds while its batch is paused are paused too.
        Step(
            "paused folders",
            "ALTER TABLE watchedFolder ADD COLUMN isPaused INTEGER NOT NULL DEFAULT 0"),
        Step(
            "renamed files",
            """
            -- A confirmed file that has another name now: another one of its former name takes its URL.
            ALTER TABLE ledger ADD COLUMN isRenamed INTEGER NOT NULL DEFAULT 0;
            CREATE INDEX ledgerRenamed ON ledger(folder, url) WHERE isRenamed;
            """),
        // The URL template without secrets, by which another template is noticed.
        Step(
            "targets of watched folders",
            "ALTER TABLE watchedFolder ADD COLUMN url TEXT"),
        Step(
            "reserves",
            """
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
            """),
        Step(
            "packs",
            """
            -- Jobs of a new batch that have no rows yet (JobPack), and the number of the first of them.
            CREATE TABLE pack (
                batch INTEGER PRIMARY KEY REFERENCES batch(id) ON DELETE CASCADE,
                first INTEGER NOT NULL,
                count INTEGER NOT NULL,
                jobs BLOB NOT NULL,
                isUnreadable INTEGER NOT NULL DEFAULT 0
            );
            """),
        Step(
            "changes of watched files",
            """
            -- The time of the last change of anything of the file (st_ctim) when this version was last seen to be as it
            -- was recorded, in nanoseconds since 1970.
            ALTER TABLE ledger ADD COLUMN changed INTEGER;
            """),
        Step(
            "fingerprints of watched files",
            """
            -- Of the bytes that were sent (ByteFingerprint), where they went in one go.
            ALTER TABLE ledger ADD COLUMN fingerprint INTEGER;
            """),
        Step(
            "needs by job",
            """
            -- The key finds who needs a job; this finds what a job needs, which each job asks when it's taken in and when
            -- it's deleted: without it each of those reads the whole table.
            CREATE INDEX needJob ON need(job);
            """),
        Step(
            "failed files of watched folders",
            """
            -- How often a file failed for good; a failed job's notBefore is when it's tried again by itself.
            ALTER TABLE ledger ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
            CREATE INDEX jobAgain ON job(batch, notBefore) WHERE ledger IS NOT NULL AND state = 6;
            """),
        Step(
            "names of watched files",
            """
            -- A confirmed file is known by its bytes under its name where its inode is another one.
            CREATE INDEX ledgerName ON ledger(folder, path) WHERE state = 1;
            """),
        Step(
            "unproven bytes",
            """
            -- Bytes of another tool's file with which a download began, and which nothing proves.
            ALTER TABLE job ADD COLUMN unproven INTEGER;
            """),
        Step(
            "waits by the boot's clock",
            """
            -- What waits took that servers asked for, since the last durable byte: milliseconds.
            ALTER TABLE job ADD COLUMN askedWait INTEGER NOT NULL DEFAULT 0;
            -- The end of a wait (notBefore, until) by CLOCK_BOOTTIME in the boot below, and how long it was when it began:
            -- milliseconds. In the next boot what the wall's clock says is left becomes a time of that one, at most so long.
            ALTER TABLE job ADD COLUMN due INTEGER;
            ALTER TABLE job ADD COLUMN delay INTEGER;
            DROP INDEX jobAgain;
            CREATE INDEX jobAgain ON job(batch, due) WHERE ledger IS NOT NULL AND state = 6;
            ALTER TABLE pause ADD COLUMN due INTEGER;
            ALTER TABLE pause ADD COLUMN delay INTEGER;
            -- The boot that these times are of, and the wall's time when it began: another one when the clock was set.
            CREATE TABLE boot (id TEXT NOT NULL, wall INTEGER NOT NULL);
            """),
        Step(
            "waits for hosts",
            """
            -- Origins that transfers wait for, as the process that runs sees it: since when (milliseconds since 1970), and
            -- the end of the pause, as in "pause"; NULL while a transfer tries.
            CREATE TABLE hostWait (
                process INTEGER NOT NULL REFERENCES process(id) ON DELETE CASCADE,
                origin TEXT NOT NULL,
                since INTEGER NOT NULL,
                until INTEGER,
                due INTEGER,
                delay INTEGER,
                status INTEGER,
                message TEXT NOT NULL,
                PRIMARY KEY (process, origin)
            ) WITHOUT ROWID;
            """),
        Step(
            "all watched files by name",
            """
            -- Also what isn't confirmed is known by its bytes under its name where its inode is another one.
            DROP INDEX ledgerName;
            CREATE INDEX ledgerName ON ledger(folder, path);
            """),
        Step(
            "other names of watched files",
            """
            -- Names of which it was told that nothing is uploaded by them, as the file is by another one.
            CREATE TABLE otherName (
                folder INTEGER NOT NULL REFERENCES watchedFolder(id) ON DELETE CASCADE,
                path TEXT NOT NULL,
                PRIMARY KEY (folder, path)
            ) WITHOUT ROWID;
            """),
        Step(
            "jobs under way",
            """
            -- The numbers of jobs whose transfers are under way, as far as the last report says, with a space around each.
            ALTER TABLE batch ADD COLUMN underWay TEXT NOT NULL DEFAULT '';
            """),
        Step(
            "unproven lengths",
            """
            -- 1 where only the end of a connection ended the file.
            ALTER TABLE job ADD COLUMN lengthUnproven INTEGER;
            """),
        Step(
            "counts of large batches",
            """
            -- How many jobs it has, and how many are complete, as far as the last report of the process that runs it says.
            ALTER TABLE batch ADD COLUMN toldJobs INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE batch ADD COLUMN toldDone INTEGER NOT NULL DEFAULT 0;
            -- Of a large batch most jobs are ready, taken or complete: the others can be counted.
            CREATE INDEX jobRest ON job(batch, state) WHERE state NOT IN (0, 1, 5);
            """),
        Step(
            "leases",
            """
            -- The end of a process's lease (milliseconds of CLOCK_BOOTTIME), and whether a lock shows that it lives; a
            -- version that knew of no leases leaves both out.
            ALTER TABLE process ADD COLUMN until INTEGER;
            ALTER TABLE process ADD COLUMN isLocked INTEGER NOT NULL DEFAULT 0;
            """),
        Step(
            "hooks",
            hooks),
        Step(
            "sums of pieces",
            """
            -- Of a completed download's file (PieceSumList).
            ALTER TABLE job ADD COLUMN sums BLOB;
            """),
        Step(
            "times of jobs",
            """
            -- Jobs up to that number were there at that time (milliseconds since 1970), as somebody saw who counted them.
            CREATE TABLE jobsSeen (last INTEGER PRIMARY KEY, time INTEGER NOT NULL);
            """),
        Step(
            "sources of downloads",
            """
            -- Of a download that ended: what each of its URLs did (JobSource), where there is more to say than one URL.
            ALTER TABLE job ADD COLUMN sources TEXT;
            -- The same of downloads under way, as far as the last report of the process that runs the batch says.
            CREATE TABLE runningSources (
                job INTEGER PRIMARY KEY,
                batch INTEGER NOT NULL REFERENCES batch(id) ON DELETE CASCADE,
                sources TEXT NOT NULL
            ) WITHOUT ROWID;
            """),
        Step(
            "proxies that are waited for",
            """
            -- The proxy before the origin, where that one is to blame: scheme, host and port.
            ALTER TABLE pause ADD COLUMN proxy TEXT;
            ALTER TABLE hostWait ADD COLUMN proxy TEXT;
            """),
        Step(
            "proofs of copies",
            """
            -- Of a copy that is complete: what proves it (JobProof), with spaces between.
            ALTER TABLE job ADD COLUMN proofs TEXT;
            """),
        Step(
            "bounds of reserves",
            """
            -- The numbers of the first and the last job of the reserve; NULL where a version made it that noted none.
            ALTER TABLE batch ADD COLUMN reserveFirst INTEGER;
            ALTER TABLE batch ADD COLUMN reserveLast INTEGER;
            """),
        Step(
            "submissions",
            AnsweredSubmissions.table),
    ]
}
