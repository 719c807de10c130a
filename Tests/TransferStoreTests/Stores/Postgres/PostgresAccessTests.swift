import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Logins that have roles in a queue and no rights on its tables. The conformance suite runs with such a login, too.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct PostgresAccessTests {
    private let server: PostgresServer
    private let queue = UUID().uuidString.lowercased().replacing("-", with: "")
    private let owner: PostgresStore

    private static let parts = ["submit", "work", "read"]

    init() async throws {
        server = try await PostgresServer.shared
        owner = try PostgresStore(PostgresAddress(server.url(queue: queue)))
    }

    private var schema: String { "transfer_\(queue)" }

    private func address(_ login: String) throws -> PostgresAddress {
        try PostgresAddress(server.url(queue: queue, login: login))
    }

    private func worker(_ login: String) throws -> PostgresStore {
        try PostgresStore(address(login), .worker(PostgresWorker()))
    }

    private let jobs = (0..<3).map { Sample.download("http://h.example/", to: "\($0)", id: "\($0)") }

    // MARK: Statements

    @Test func eachStatementIsInTheListAndHasAFunctionInANewQueue() async throws {
        let listed = PostgresStatements.all.compactMap(\.name)
        #expect(Set(listed).count == listed.count, "a name twice")
        let names = try Self.namesInSources()
        #expect(names.count > 100 && names.subtracting(listed).isEmpty, "\(names.subtracting(listed))")
        let functions = Set(PostgresStatements.all.compactMap(\.function))
        let made = try await server.ask(
            "SELECT proname FROM pg_proc WHERE pronamespace = '\(schema)'::regnamespace AND prosecdef")
        #expect(Set(made.split(separator: "\n").map(String.init)) == functions)
    }

    /// Returns the names of the statements in the sources.
    private static func namesInSources() throws -> Set<String> {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 0..<5 { folder.deleteLastPathComponent() }
        folder.append(path: "Sources/TransferStorePostgres")
        let pattern = try Regex(#"PostgresStatement\(\s*"([a-z_]+)""#, as: (Substring, Substring).self)
        var names: Set<String> = []
        for file in try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)) {
            guard let file = file as? URL, file.pathExtension == "swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            names.formUnion(text.matches(of: pattern).map { String($0.output.1) })
        }
        return names
    }

    @Test func functionsHaveTheirOwnPathAndNoPublicAccess() async throws {
        let open = try await server.ask(
            """
            SELECT proname FROM pg_proc WHERE pronamespace = '\(schema)'::regnamespace AND (has_function_privilege('public', oid, 'EXECUTE')
                OR prosecdef AND NOT 'search_path=\(schema), pg_temp' = ANY (proconfig))
            """)
        #expect(open.isEmpty, "\(open)")
    }

    @Test func missingFunctionsAreMadeByTheOwnerAndReportedToOthers() async throws {
        let login = try await server.login("work", in: queue)
        let name = try #require(PostgresStatements.all.first { $0.name == "claim_jobs" }?.function)
        try await server.ask("DROP FUNCTION \(schema).\(name); DELETE FROM \(schema).callable WHERE name = '\(name)'")
        let batch = try owner.stage(jobs).batch.id
        _ = try owner.release(batch: batch, isComplete: false)
        let worker = try worker(login)
        #expect(try worker.hold(.unfinished).count == 1)
        let error = #expect(throws: TransferError.self) { try worker.claimAll(batch) }
        #expect(error?.message.contains("is not ready for this version") == true, "\(String(describing: error))")
        _ = try PostgresStore(PostgresAddress(server.url(queue: queue)))
        #expect(try worker.claimAll(batch).count == 3)
    }

    // MARK: Rights

    @Test(arguments: parts) func aRoleGivesNoRightOnATableOrOnOtherRolesFunctions(_ part: String) async throws {
        let login = try await server.login(part, in: queue)
        let rights = try await server.ask(
            """
            SELECT relname FROM pg_class WHERE relnamespace = '\(schema)'::regnamespace AND relkind IN ('r', 'S') AND (
                CASE relkind WHEN 'S' THEN has_sequence_privilege('\(login)', oid, 'USAGE, SELECT, UPDATE')
                ELSE has_table_privilege('\(login)', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER') END)
            """)
        #expect(rights.isEmpty, "\(rights)")
        for statement in [
            "SELECT * FROM \(schema).job", "INSERT INTO \(schema).counter VALUES ('x', 1)",
            "UPDATE \(schema).job SET state = 0", "CREATE TABLE \(schema).mine (id INT)",
            "SELECT \(schema).allow('\(login)', 'submit')",
        ] {
            let error = await #expect(throws: TestSupportError.self) { try await server.ask(statement, as: login) }
            #expect("\(error as Any)".contains("permission denied"), "\(statement): \(String(describing: error))")
        }
        let callable = try await server.ask(
            """
            SELECT proname FROM pg_proc WHERE pronamespace = '\(schema)'::regnamespace
                AND has_function_privilege('\(login)', oid, 'EXECUTE')
            """)
        let own = PostgresStatements.all.filter { $0.access.names.contains(part) }.compactMap(\.function)
        #expect(Set(callable.split(separator: "\n").map(String.init)) == Set(own) && !own.isEmpty)
    }

    @Test func aMissingRoleIsReportedWithItsGrant() async throws {
        let reader = try await server.login("read", in: queue)
        let nobody = try await server.login(in: queue)
        for (login, role, part) in [
            (reader, PostgresRole.worker(PostgresWorker()), "work"), (reader, .submitter, "submit"),
            (nobody, .onlooker, "read"), (nobody, .submitter, "submit"),
        ] {
            let error = #expect(throws: TransferError.self) { _ = try PostgresStore(address(login), role) }
            #expect(
                error?.message.contains("SELECT \(schema).allow('\(login)', '\(part)')") == true,
                "\(String(describing: error))")
        }
        let looker = try PostgresStore(address(reader), .onlooker)
        let error = #expect(throws: TransferError.self) { try looker.deliver(.pause, batch: "b", job: nil) }
        #expect(error?.message.contains("may not submit") == true, "\(String(describing: error))")
    }

    @Test func aRevokedRoleIsGone() async throws {
        let login = try await server.login("read", in: queue)
        _ = try PostgresStore(address(login), .onlooker)
        try await server.ask("SELECT \(schema).forbid('\(login)')")
        #expect(throws: TransferError.self) { _ = try PostgresStore(address(login), .onlooker) }
        try await server.ask("DROP ROLE \(login)")
    }

    @Test func aMemberOfAGroupHasItsRole() async throws {
        let login = try await server.login(in: queue)
        let group = try await server.login("work", in: queue)
        try await server.ask("GRANT \(group) TO \(login)")
        _ = try worker(login)
    }

    // MARK: Roles

    @Test func eachRoleDoesItsOwnWork() async throws {
        let (submit, work, read) = (
            try await server.login("submit", in: queue), try await server.login("work", in: queue),
            try await server.login("read", in: queue)
        )
        let submitter = try PostgresStore(address(submit), .submitter)
        let batch = try submitter.stage(jobs).batch.id
        _ = try submitter.release(batch: batch, isComplete: false)
        let worker = try worker(work)
        #expect(try worker.hold(.unfinished).map(\.id) == [batch])
        let records = try worker.claimAll(batch, limit: 2)
        try worker.succeed(records[0])
        try worker.fail(records[1])
        _ = try worker.renew()
        // Every process is notified of possible recalls, and asks which of its own jobs are recalled.
        #expect(try submitter.revoked().isEmpty)
        #expect(try submitter.revoke(Set(records.map(\.id))) == 0)
        let steering = try PostgresStore(address(submit), .onlooker)
        #expect(try steering.deliver(.pause, batch: "b", job: "2") != .noSuchJob)
        let looker = try PostgresStore(address(read), .onlooker)
        let list = try looker.jobs(batch: "b", after: 0, failed: false, limit: 9)
        #expect(list.map(\.state) == [.done, .failed, .paused])
        #expect(try looker.statuses(name: "b").first?.failed == 1)
        #expect(try looker.facts(batch: "b", job: "1")?.state == .failed)
        #expect(try looker.ends(after: 0, limit: 9).count == 2)
        #expect(try looker.workers().count == 1)
        try worker.retire()
        try submitter.retire()
    }

    // MARK: Tables of the connection

    /// A name without a schema means the connection's own temporary tables first, unless the function's path says
    /// otherwise.
    @Test func tablesOfTheConnectionTakeNoTablesPlace() async throws {
        let batch = try owner.stage(jobs).batch.id
        _ = try owner.release(batch: batch, isComplete: false)
        let worker = try worker(await server.login("work", in: queue))
        try worker.database.read { db in
            for table in ["job", "process", "counter", "batch"] {
                _ = try db.script("CREATE TEMPORARY TABLE \(table) (id BIGINT)")
            }
        }
        #expect(try worker.hold(.unfinished).count == 1)
        for record in try worker.claimAll(batch) { try worker.succeed(record) }
        #expect(try owner.counts(batch) == [.done: 3])
    }

    /// The function would otherwise run a view of that name with the owner's rights.
    @Test func jobsAreStagedFromTheOwnersTableAlone() async throws {
        let submitter = try PostgresStore(address(await server.login("submit", in: queue)), .submitter)
        try submitter.database.read { db in
            _ = try db.script("CREATE TEMPORARY VIEW staged AS SELECT random() AS position")
        }
        #expect(throws: (any Error).self) { try submitter.stage(jobs) }
        try submitter.database.read { db in
            _ = try db.script("DROP VIEW staged; CREATE TEMPORARY TABLE staged (position BIGINT)")
        }
        #expect(throws: (any Error).self) { try submitter.stage(jobs) }
        try submitter.database.read { db in _ = try db.script("DROP TABLE pg_temp.staged") }
        #expect(try submitter.stage(jobs).count == 3)
    }
}
