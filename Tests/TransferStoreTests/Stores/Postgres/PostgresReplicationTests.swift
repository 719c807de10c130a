import Foundation
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferStore
@testable import TransferStorePostgres

/// A queue's database with a standby: the possible loss of changes, and the state of a promoted standby.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct PostgresReplicationTests {
    private let queue = UUID().uuidString.lowercased().replacing("-", with: "")

    private func address(_ server: PostgresServer, _ login: String = "transfer") throws -> PostgresAddress {
        try PostgresAddress(server.url(queue: queue, login: login))
    }

    private func durabilityWarning(_ server: PostgresServer, _ login: String = "transfer") throws -> String? {
        try PostgresReplication(database: PostgresStore(address(server, login), .onlooker).database).durabilityWarning()
    }

    /// Starts a server and a standby that follows it.
    private func with(_ body: (_ primary: PostgresServer, _ standby: PostgresServer) async throws -> Void) async throws
    {
        let primary = try await PostgresServer.start()
        let standby: PostgresServer
        do {
            standby = try await primary.startStandby()
            try await wait("t", primary, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state = 'streaming')")
        } catch {
            await primary.stop()
            throw error
        }
        let failure = await Result { try await body(primary, standby) }
        await standby.stop()
        await primary.stop()
        try failure.get()
    }

    /// Waits for a change that a second process makes in its own time.
    private func wait(_ answer: String, _ server: PostgresServer, _ question: String) async throws {
        for _ in 0..<2000 where try await server.ask(question) == answer { return }
        throw TestSupportError("\(question) is not \(answer)")
    }

    private func makeSynchronous(_ primary: PostgresServer) async throws {
        try await primary.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try await primary.ask("SELECT pg_reload_conf()")
        try await wait("sync", primary, "SELECT sync_state FROM pg_stat_replication")
        try await wait("*", primary, "SHOW synchronous_standby_names")
    }

    // MARK: Asynchronous replication

    @Test(arguments: [
        (true, "", "on", "in a fail-over", "as its standbys are asynchronous:", "; synchronous_standby_names there"),
        (true, "*", "local", "in a fail-over", "as synchronous_commit is local:", "; synchronous_commit = on there"),
        (false, "", "off", "in a crash", "as synchronous_commit is off:", "; synchronous_commit = on there"),
        (
            true, "", "off", "in a crash or a fail-over",
            "as its standbys are asynchronous and synchronous_commit is off:",
            "; synchronous_standby_names and synchronous_commit = on there"
        ),
    ])
    func theSentenceNamesTheEventTheCauseAndTheCure(
        _ hasStandbys: Bool, _ names: String, _ commit: String, _ event: String, _ cause: String, _ cure: String
    ) throws {
        let words = try #require(
            PostgresReplication.durabilityWarning(hasStandbys: hasStandbys, synchronous: names, commit: commit))
        #expect(words.hasPrefix(event + " ") && words.contains(cause) && words.contains(cure), "\(words)")
    }

    @Test(arguments: [
        (false, "", "on"), (false, "", "local"), (true, "*", "on"), (true, "*", "remote_write"),
        (true, "*", "remote_apply"),
    ])
    func nothingIsReportedWhenNothingIsLost(_ hasStandbys: Bool, _ names: String, _ commit: String) {
        #expect(
            PostgresReplication.durabilityWarning(hasStandbys: hasStandbys, synchronous: names, commit: commit) == nil)
    }

    @Test func everyPartLearnsOfAsynchronousStandbysAndOfNoOthers() async throws {
        try await with { primary, _ in
            _ = try PostgresStore(address(primary))
            for part in ["submit", "work", "read"] {
                let login = try await primary.login(part, in: queue)
                #expect(
                    try durabilityWarning(primary, login)?.contains("its standbys are asynchronous:") == true, "\(part)"
                )
            }
            try await makeSynchronous(primary)
            #expect(try durabilityWarning(primary) == nil)
            let login = try await primary.login("work", in: queue)
            try await primary.ask("ALTER ROLE \(login) SET synchronous_commit = local")
            #expect(try durabilityWarning(primary, login)?.contains("synchronous_commit is local:") == true)
        }
    }

    // MARK: Promotion

    @Test func aStandbyIsADatabaseThatIsAwayForWorkersUntilItsPromoted() async throws {
        try await with { primary, standby in
            try await makeSynchronous(primary)
            _ = try PostgresStore(address(primary))
            let error = #expect(throws: TransferError.self) {
                try PostgresStore(address(standby), .worker(PostgresWorker()))
            }
            #expect(error.map { PostgresFault.isUnavailable($0) } == true, "\(String(describing: error))")
            #expect(error?.message.contains("takes no changes: its server is a standby") == true)
        }
    }

    @Test func aPromotedStandbyIssuesItsOwnTokensAndKnowsNoFormerTransaction() async throws {
        try await with { primary, standby in
            let old = try PostgresStore(address(primary)).database
            #expect(old.process >> 40 == 1)
            try await makeSynchronous(primary)
            // The transaction is committed, and on the standby.
            let number = try old.write { db in try db.script("SELECT pg_current_xact_id()").first?.text(0) ?? "" }
            try await primary.kill()
            try await standby.ask("SELECT pg_promote()")
            let new = try PostgresStore(address(standby)).database
            #expect(new.process >> 40 == 2)
            func isCommitted(_ outcome: PostgresOutcome<Int>) throws -> Bool {
                let open = PostgresTransaction.Unsettled(
                    number: number, timeline: old.process >> 40, outcome: outcome)
                return try new.read { try open.isCommitted($0) }
            }
            #expect(throws: TransferError.self) { try isCommitted(PostgresOutcome(1)) }
            for known in [true, false] {
                #expect(try isCommitted(PostgresOutcome(1) { _ in known }) == known, "its rows tell")
            }
        }
    }

    @Test func theServerThatTakesChangesIsFoundAmongTwo() async throws {
        try await with { primary, standby in
            _ = try PostgresStore(address(primary))
            func host(_ server: PostgresServer) throws -> String { try #require(address(server).keywords["host"]) }
            let hosts = try [standby, primary].map { try host($0).replacing("/", with: "%2F") }.joined(separator: ",")
            let both = try PostgresAddress(
                "postgres://transfer@\(hosts)/postgres?queue=\(queue)&target_session_attrs=read-write")
            let question = "SELECT pg_is_in_recovery()"
            #expect(try PostgresConnection(both).script(question).first?.flag(0) == false)
            try await primary.kill()
            let error = #expect(throws: TransferError.self) { try PostgresConnection(both) }
            #expect(error?.message.contains("session is read-only") == true)
            try await standby.ask("SELECT pg_promote()")
            #expect(try PostgresConnection(both).script(question).first?.flag(0) == false)
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
