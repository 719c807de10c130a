import GRDB
import Glibc
import Testing
import TransferTestSupport

@testable import TransferStore
@testable import TransferStoreSQLite

@Suite struct DatabaseFileTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder("database")
        path = folder.path("queue.sqlite")
    }

    private func size() -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : -1
    }

    @Test func aNewFileIsAnEmptyDatabaseInWALMode() throws {
        try DatabaseFile.prepare(path, in: folder.path)
        // On a file system without unnamed files the file is empty, and SQLite initialises it.
        try #require(size() == 8192)
        // The database is opened without settings, as SQLite finds it.
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { db in
            #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal")
            #expect(try Int.fetchOne(db, sql: "PRAGMA page_size") == DatabaseFile.pageSize)
            #expect(try Int.fetchOne(db, sql: "PRAGMA page_count") == 1)
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
            try db.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES ('kept')")
            try db.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
        }
        try database.close()
        let again = try DatabaseQueue(path: path)
        #expect(try again.read { try String.fetchOne($0, sql: "SELECT x FROM t") } == "kept")
        #expect(try again.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    }

    @Test func anExistingDatabaseStaysUnchanged() throws {
        try folder.write("somebody's", to: "queue.sqlite")
        chmod(path, 0o644)
        try DatabaseFile.prepare(path, in: folder.path)
        #expect(size() == 10)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func nothingElseIsLeftInTheFolder() throws {
        try DatabaseFile.prepare(path, in: folder.path)
        #expect(try folder.files() == ["queue.sqlite"])
    }
}
