import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

/// Queues of earlier versions, which this version continues.
@Suite struct SchemaTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private func tables() throws -> Set<String> {
        Set(try fixture.raw.run("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap { $0[0] })
    }

    private func dropWhatCameAfterFingerprints() throws {
        try fixture.raw.run("DROP INDEX needJob")
        try fixture.raw.run("DROP INDEX jobAgain")
        try fixture.raw.run("DROP INDEX ledgerName")
        try fixture.raw.run("ALTER TABLE ledger DROP COLUMN failures")
        try fixture.raw.run("ALTER TABLE job DROP COLUMN unproven")
        try fixture.raw.run("ALTER TABLE job DROP COLUMN lengthUnproven")
        for column in ["job.askedWait", "job.due", "job.delay", "pause.due", "pause.delay", "pause.proxy"] {
            let names = column.split(separator: ".")
            try fixture.raw.run("ALTER TABLE \(names[0]) DROP COLUMN \(names[1])")
        }
        for table in ["boot", "hostWait", "otherName", "jobsSeen", "runningSources", "submission"] {
            try fixture.raw.run("DROP TABLE \(table)")
        }
        try fixture.raw.run("DROP INDEX jobRest")
        for column in ["sums", "sources", "proofs"] { try fixture.raw.run("ALTER TABLE job DROP COLUMN \(column)") }
        for column in ["until", "isLocked"] { try fixture.raw.run("ALTER TABLE process DROP COLUMN \(column)") }
        try fixture.raw.run("DROP TABLE hookCall")
        for column in ["underWay", "toldJobs", "toldDone", "onFinish", "toldEnd", "reserveFirst", "reserveLast"] {
            try fixture.raw.run("ALTER TABLE batch DROP COLUMN \(column)")
        }
    }

    @Test func aQueueOfThePreviousVersionIsMigrated() throws {
        try fixture.stage([Sample.download("http://h.example/x", to: "a")])
        try fixture.raw.run("ALTER TABLE ledger DROP COLUMN changed")
        try fixture.raw.run("ALTER TABLE ledger DROP COLUMN fingerprint")
        try dropWhatCameAfterFingerprints()
        try fixture.raw.run("UPDATE grdb_migrations SET identifier = 'packs'")
        let store = try SQLiteStore(fixture.state)
        #expect(try fixture.raw.run("SELECT count(changed) + count(fingerprint) FROM ledger") == [["0"]])
        #expect(try store.statuses(name: nil).map(\.remaining) == [1])
        #expect(try fixture.raw.run("SELECT identifier FROM grdb_migrations") == [[Schema.steps.last?.name]])
    }

    @Test func aQueueWithSeparateMigrationsIsMigrated() throws {
        try fixture.stage([Sample.download("http://h.example/x", to: "a")])
        try fixture.raw.run("ALTER TABLE ledger DROP COLUMN changed")
        try fixture.raw.run("ALTER TABLE ledger DROP COLUMN fingerprint")
        try dropWhatCameAfterFingerprints()
        try fixture.raw.run("DROP TABLE pack")
        try fixture.raw.run("DELETE FROM grdb_migrations")
        for name in [
            "1", "network places", "network lanes", "network waits", "uploads", "watched folders", "claims",
            "files that come back", "paused folders", "renamed files", "targets of watched folders", "reserves",
        ] { try fixture.raw.run("INSERT INTO grdb_migrations VALUES ('\(name)')") }
        let store = try SQLiteStore(fixture.state)
        #expect(try tables().contains("pack") && store.statuses(name: nil).map(\.remaining) == [1])
        #expect(try fixture.raw.run("SELECT identifier FROM grdb_migrations") == [[Schema.steps.last?.name]])
    }

    @Test func aQueueOfTheFirstVersionIsMigrated() throws {
        let now = try tables()
        let folder = try StateFolder(fixture.folder.path("old"))
        let old = RawDatabase(path: folder.database)
        try old.run("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        try old.run("INSERT INTO grdb_migrations VALUES ('1')")
        for sql in Schema.steps[0].sql.split(separator: ";") { try old.run(String(sql)) }
        try old.run("INSERT INTO batch (name, directory, updated) VALUES ('b', '/', unixepoch() * 1000)")
        #expect(try SQLiteStore(folder).statuses(name: nil).map(\.name) == ["b"])
        let tables = try old.run("SELECT name FROM sqlite_master WHERE type = 'table'").compactMap { $0[0] }
        #expect(Set(tables) == now)
    }

    @Test(arguments: [false, true]) func aQueueOfANewerVersionIsRefusedAndNotTouched(byAReader isReader: Bool) throws {
        try fixture.stage([Sample.download("http://h.example/x", to: "a")])
        try fixture.raw.run("INSERT INTO grdb_migrations VALUES ('of a later version')")
        let before = try fixture.raw.run("SELECT * FROM process ORDER BY id")
        let error = #expect(throws: TransferError.self) { try SQLiteStore(fixture.state, isReader: isReader) }
        #expect(error?.message.contains("newer version of this program") == true)
        #expect(try fixture.raw.run("SELECT * FROM process ORDER BY id") == before)
    }

    @Test func aQueueOfThisVersionStaysAsItIs() throws {
        try fixture.stage([Sample.download("http://h.example/x", to: "a")])
        let before = try fixture.raw.run("SELECT name, sql FROM sqlite_master ORDER BY name")
        _ = try SQLiteStore(fixture.state)
        #expect(try fixture.raw.run("SELECT name, sql FROM sqlite_master ORDER BY name") == before)
        #expect(try fixture.store.statuses(name: nil).map(\.remaining) == [1])
    }
}
