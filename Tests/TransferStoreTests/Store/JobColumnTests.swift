import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport
import TransferWatch

@testable import TransferStore
@testable import TransferStorePostgres
@testable import TransferStoreSQLite

/// The list of a job's columns, compared with the tables of both stores.
@Suite struct JobColumnTests {
    /// Columns that only one machine's queue has: parts of waits, and watched folders.
    private static let sqliteAlone: Set<String> = ["due", "delay", "ledger"]

    @Test func theListHasTheColumnsOfSQLitesTable() throws {
        let fixture = try StoreFixture()
        let rows = try fixture.raw.run("SELECT name, type, \"notnull\" OR pk FROM pragma_table_info('job')")
        let types = Dictionary(uniqueKeysWithValues: rows.map { ($0[0] ?? "", $0[1] ?? "") })
        let required = Set(rows.filter { $0[2] == "1" }.map { $0[0] ?? "" })
        #expect(required == Set(JobColumn.allCases.filter { !$0.mayBeNull }.map(\.sqlite)))
        #expect(Set(types.keys) == Set(JobColumn.allCases.map(\.sqlite)).union(Self.sqliteAlone))
        for column in JobColumn.allCases {
            let type =
                switch column.kind {
                case .number, .flag, .wait: "INTEGER"
                case .real: "REAL"
                case .text, .upload: "TEXT"
                case .bytes: "BLOB"
                }
            #expect(types[column.sqlite] == type, "\(column)")
        }
    }

    @Test func theListOfTheHistoryHasTheColumnsOfSQLitesTable() throws {
        let fixture = try StoreFixture()
        let rows = try fixture.raw.run("SELECT name, type, \"notnull\" OR pk FROM pragma_table_info('ledger')")
        let known = Dictionary(uniqueKeysWithValues: rows.map { ($0[0] ?? "", [$0[1] ?? "", $0[2] ?? ""]) })
        #expect(Set(known.keys) == Set(HistoryColumn.allCases.map(\.sqlite)).union(["folder"]))
        for column in HistoryColumn.allCases {
            let type = column.kind == .text ? "TEXT" : "INTEGER"
            #expect(known[column.sqlite] == [type, column.mayBeNull ? "0" : "1"], "\(column)")
        }
    }

    /// A version that is read is the one that was written, in each of its columns.
    @Test func aVersionIsReadFromItsColumns() {
        let version = FileVersion(device: 1, inode: 2, size: 3, modified: 4, path: "a", changed: 5)
        let full = UploadHistoryEntry(
            id: 6, version: version, url: "http://h/a", state: .confirmed, job: 7, digestText: "sha-256=8",
            fingerprint: .max, staged: 9, confirmed: 10, due: 11, gone: 12, isRenamed: true, failures: 13)
        let fresh = UploadHistoryEntry(
            id: 6, version: FileVersion(device: 1, inode: 2, size: 3, modified: 4, path: "a"), url: "", state: .open)
        for entry in [full, fresh] {
            let read = UploadHistoryEntry { entry.value($0) }
            #expect(read == entry && read.version.stamp == entry.version.stamp)
            for column in HistoryColumn.allCases where !column.mayBeNull { #expect(entry.value(column) != .null) }
        }
        #expect(HistoryColumn.written.map(\.place) == Array(HistoryColumn.allCases.indices.dropFirst()))
    }
}

/// The list of a job's columns, compared with PostgreSQL's table.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct PostgresJobColumnTests: SharedQueueTests {
    let address: PostgresAddress

    init() async throws { address = try await Self.newQueue() }

    /// Columns that only a shared queue has: an index of names, hooks, tags, requests to claimants, rules of
    /// uploads, and its own names for those of watched folders.
    private static let postgresAlone: Set<String> = [
        "key", "made", "tells_hook", "tags", "asked", "part_owners", "drop_after", "upload_goes_on", "upload_is_held",
        "history",
    ]

    @Test func theListHasTheColumnsOfPostgresTable() throws {
        _ = try worker()
        let db = try PostgresConnection(address)
        try db.begin(address, as: .owner)
        let rows = try db.run(
            PostgresStatement(
                direct: """
                    SELECT column_name, data_type FROM information_schema.columns
                    WHERE table_name = 'job' AND table_schema = current_schema()
                    """))
        let types = Dictionary(uniqueKeysWithValues: rows.map { ($0.text(0) ?? "", $0.text(1) ?? "") })
        #expect(Set(types.keys) == Set(JobColumn.allCases.map(\.rawValue)).union(Self.postgresAlone))
        for column in JobColumn.allCases {
            let allowed: Set<String> =
                switch column.kind {
                case .number, .wait: ["bigint", "integer", "smallint"]
                case .flag: ["boolean"]
                case .real: ["double precision"]
                case .text, .upload: ["text"]
                case .bytes: ["bytea"]
                }
            #expect(allowed.contains(types[column.rawValue] ?? ""), "\(column): \(types[column.rawValue] ?? "none")")
        }
        let names = try db.run(
            PostgresStatement(
                direct: """
                    SELECT column_name FROM information_schema.columns
                    WHERE table_name = 'upload_history' AND table_schema = current_schema()
                    """)
        ).map { $0.text(0) ?? "" }
        #expect(Set(names) == Set(HistoryColumn.allCases.map(\.rawValue)).union(["folder"]))
    }
}
