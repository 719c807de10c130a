import TransferQueueFixtures

/// The database of version 0.1 at the time when its process was killed. Of six jobs one was complete, one had failed,
/// one was half fetched, one waited for that one, and two uploads were being sent. Placeholders stand for the folder
/// and the time that a test gives.
enum EarlierState {
    static func sql(folder: String, modified: Int64) -> String {
        text.replacing("{folder}", with: folder).replacing("{modified}", with: String(modified))
    }

    static let jobs = #"""
        {"version": 1, "name": "b", "jobs": [
        {"id": "done", "download": "http://files.example/done", "to": "out/done"},
        {"id": "slow", "download": "http://files.example/slow", "to": "out/slow"},
        {"id": "missing", "download": "http://files.example/missing", "to": "out/missing"},
        {"id": "after", "needs": ["slow"], "download": "http://files.example/after", "to": "out/after"},
        {"id": "put", "upload": "up.bin", "to": "http://files.example/in/put"},
        {"id": "post", "upload": "post.bin", "to": "http://files.example/in/post", "protocol": "post"}
        ]}
        """#

    private static let text = #"""
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
        , active INTEGER NOT NULL DEFAULT 0, reserve INTEGER, underWay TEXT NOT NULL DEFAULT '', toldJobs INTEGER NOT NULL DEFAULT 0, toldDone INTEGER NOT NULL DEFAULT 0);
        INSERT INTO "batch" VALUES(1,'b','{folder}/jobs.json','{folder}',1,1,1,0,NULL,NULL,1795662482323,3,NULL,' 2 6 5 ',6,1);
        CREATE TABLE boot (id TEXT NOT NULL, wall INTEGER NOT NULL);
        INSERT INTO "boot" VALUES('394a0a24-9aba-4446-ab6a-fe76daa8bfc3',1795621888136);
        CREATE TABLE command (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            process INTEGER NOT NULL,
            verb TEXT NOT NULL,
            batch INTEGER NOT NULL,
            job TEXT
        );
        CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO "counter" VALUES('durable',1);
        INSERT INTO "counter" VALUES('end',2);
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO "grdb_migrations" VALUES('counts of large batches');
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
        , networkPlaces TEXT, network TEXT NOT NULL DEFAULT '', upload TEXT, ledger INTEGER, follows INTEGER, claimed INTEGER, unproven INTEGER, askedWait INTEGER NOT NULL DEFAULT 0, due INTEGER, delay INTEGER, lengthUnproven INTEGER);
        INSERT INTO "job" VALUES(1,1,'done',1,2,7,6,0,5,0,'http://files.example','{folder}/out/done','{"id":"done","download":"http://files.example/done","to":"out/done"}',0,-2743774785385603706,0,0,NULL,0,0,0,1,0,0,NULL,NULL,'{folder}/out/done',1000,{modified},NULL,'"v1"',1000,0.140375284,'http://files.example/done',200,NULL,NULL,NULL,NULL,2,1795662480473,NULL,'',NULL,NULL,NULL,1795662480326,NULL,0,NULL,NULL,NULL);
        INSERT INTO "job" VALUES(2,1,'slow',1,3,7,6,1,1,0,'http://files.example','{folder}/out/slow','{"id":"slow","download":"http://files.example/slow","to":"out/slow"}',0,4508603005927637996,0,0,1,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL,1795662480326,NULL,0,NULL,NULL,NULL);
        INSERT INTO "job" VALUES(3,1,'missing',1,4,7,9,2,6,0,'http://files.example','{folder}/out/missing','{"id":"missing","download":"http://files.example/missing","to":"out/missing"}',0,1561482815264118174,0,0,NULL,0,0,0,1,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,404,NULL,'httpStatus','404 Not Found','files.example',1,1795662480376,NULL,'',NULL,NULL,NULL,1795662480326,NULL,0,NULL,NULL,NULL);
        INSERT INTO "job" VALUES(4,1,'after',1,5,7,7,3,3,0,'http://files.example','{folder}/out/after','{"id":"after","download":"http://files.example/after","to":"out/after","needs":["slow"]}',0,8095148395208201246,0,1,NULL,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL);
        INSERT INTO "job" VALUES(5,1,'put',1,6,7,5,4,1,0,'http://files.example','http://files.example/in/put','{"id":"put","upload":"up.bin","to":"http://files.example/in/put"}',1,-5616148495495782567,0,0,1,0,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL,1795662480326,NULL,0,NULL,NULL,NULL);
        INSERT INTO "job" VALUES(6,1,'post',1,7,7,6,5,1,0,'http://files.example','http://files.example/in/post','{"id":"post","upload":"post.bin","to":"http://files.example/in/post","protocol":"post"}',1,7566928893866437200,0,0,1,1,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,NULL,NULL,1795662480326,NULL,0,NULL,NULL,NULL);
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
        , isRenamed INTEGER NOT NULL DEFAULT 0, changed INTEGER, fingerprint INTEGER, failures INTEGER NOT NULL DEFAULT 0);
        CREATE TABLE listener (batch INTEGER NOT NULL, socket TEXT NOT NULL);
        CREATE TABLE meteredUsage (
            kind TEXT NOT NULL,
            hour INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            PRIMARY KEY (kind, hour)
        ) WITHOUT ROWID;
        CREATE TABLE need (
            job INTEGER NOT NULL REFERENCES job(id) ON DELETE CASCADE,
            needed INTEGER NOT NULL,
            PRIMARY KEY (needed, job)
        ) WITHOUT ROWID;
        INSERT INTO "need" VALUES(4,2);
        CREATE TABLE networkWait (
            process INTEGER NOT NULL REFERENCES process(id) ON DELETE CASCADE,
            network TEXT NOT NULL,
            since INTEGER NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (process, network)
        ) WITHOUT ROWID;
        CREATE TABLE opened (
            batch INTEGER NOT NULL REFERENCES batch(id) ON DELETE CASCADE,
            origin TEXT NOT NULL,
            network TEXT NOT NULL,
            last INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY (batch, origin, network, last)
        ) WITHOUT ROWID;
        CREATE TABLE otherName (
            folder INTEGER NOT NULL REFERENCES watchedFolder(id) ON DELETE CASCADE,
            path TEXT NOT NULL,
            PRIMARY KEY (folder, path)
        ) WITHOUT ROWID;
        CREATE TABLE pack (
            batch INTEGER PRIMARY KEY REFERENCES batch(id) ON DELETE CASCADE,
            first INTEGER NOT NULL,
            count INTEGER NOT NULL,
            jobs BLOB NOT NULL,
            isUnreadable INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE pause (origin TEXT PRIMARY KEY, until INTEGER NOT NULL, status INTEGER, message TEXT, due INTEGER, delay INTEGER);
        CREATE TABLE process (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            pid INTEGER NOT NULL,
            started INTEGER NOT NULL,
            boot TEXT NOT NULL,
            socket TEXT
        );
        INSERT INTO "process" VALUES(1,11355,4059206,'394a0a24-9aba-4446-ab6a-fe76daa8bfc3','{folder}/state/transfer-11355-22839.sock');
        CREATE TABLE silentLink (
            name TEXT PRIMARY KEY,
            since INTEGER NOT NULL,
            unanswered INTEGER NOT NULL,
            isBlamed INTEGER NOT NULL
        ) WITHOUT ROWID;
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
        , isPaused INTEGER NOT NULL DEFAULT 0, url TEXT);
        CREATE UNIQUE INDEX jobIdentity ON job(batch, identity);
        CREATE INDEX jobEnds ON job(endSequence) WHERE endSequence IS NOT NULL;
        CREATE INDEX jobOwner ON job(owner) WHERE owner IS NOT NULL;
        CREATE INDEX jobReady ON job(batch, origin, network, priority DESC, id) WHERE state = 0;
        CREATE INDEX ledgerVersion ON ledger(folder, inode, size);
        CREATE INDEX ledgerPath ON ledger(folder, path) WHERE job IS NOT NULL;
        CREATE INDEX ledgerURL ON ledger(folder, url) WHERE job IS NOT NULL;
        CREATE INDEX ledgerUndigested ON ledger(folder, id) WHERE state = 1 AND digest IS NULL;
        CREATE INDEX ledgerGone ON ledger(folder, gone) WHERE gone IS NOT NULL;
        CREATE INDEX jobLedger ON job(ledger) WHERE ledger IS NOT NULL;
        CREATE INDEX jobWatchedOpen ON job(batch) WHERE ledger IS NOT NULL AND state < 5;
        CREATE INDEX jobWatchedDone ON job(batch, endSequence) WHERE ledger IS NOT NULL AND state = 5;
        CREATE INDEX jobFollows ON job(follows) WHERE follows IS NOT NULL;
        CREATE INDEX ledgerDue ON ledger(folder, due) WHERE due IS NOT NULL AND gone IS NULL;
        CREATE INDEX ledgerRenamed ON ledger(folder, url) WHERE isRenamed;
        CREATE INDEX needJob ON need(job);
        CREATE INDEX jobAgain ON job(batch, due) WHERE ledger IS NOT NULL AND state = 6;
        CREATE INDEX ledgerName ON ledger(folder, path);
        CREATE INDEX jobRest ON job(batch, state) WHERE state NOT IN (0, 1, 5);
        DELETE FROM "sqlite_sequence";
        INSERT INTO "sqlite_sequence" VALUES('process',1);
        INSERT INTO "sqlite_sequence" VALUES('batch',1);
        INSERT INTO "sqlite_sequence" VALUES('job',6);
        """#
}
