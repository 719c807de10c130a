import Testing
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferStore
@testable import TransferStorePostgres
@testable import TransferStoreSQLite

/// The list of a job's columns, compared with the tables of both stores.
@Suite struct JobColumnTests {
    /// Columns that only one machine's queue has: parts of waits, and watched folders.
    private static let sqliteAlone: Set<String> = ["due", "delay", "ledger"]

    @Test func theListHasTheColumnsOfSQLitesTable() throws {
        let fixture = try StoreFixture()
        let rows = try fixture.raw.run("SELECT name, type FROM pragma_table_info('job')")
        let types = Dictionary(uniqueKeysWithValues: rows.map { ($0[0] ?? "", $0[1] ?? "") })
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
    }
}
