import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

@testable import TransferStorePostgres

/// Statements that this process gives up, and statements that the server gives up.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct PostgresCancelRequestTests {
    private func address() async throws -> PostgresAddress {
        try PostgresAddress(try await PostgresServer.shared.url(queue: "q\(UInt32.random(in: 0 ... .max))"))
    }

    /// Returns the number of sessions that run a statement with this mark.
    private func running(_ mark: String) async throws -> String {
        try await PostgresServer.shared.ask(
            """
            SELECT pg_sleep(0.01); SELECT count(*) FROM pg_stat_activity
            WHERE state = 'active' AND query LIKE '%\(mark)%' AND pid <> pg_backend_pid()
            """)
    }

    private func untilRunning(_ mark: String, _ count: Int) async throws {
        for _ in 0..<500 where try await running(mark).hasSuffix("\(count)") { return }
        throw TestSupportError("not \(count) sessions run \(mark)")
    }

    @Test func aStatementWhoseTimeIsOverEndsAtTheServer() async throws {
        let (address, mark) = (try await address(), "mark\(UInt32.random(in: 0 ... .max))")
        let db = try PostgresConnection(address)
        (db.cancelsAtServer, db.limit) = (true, .now + .milliseconds(300))
        let error = #expect(throws: TransferError.self) { try db.script("SELECT pg_sleep(3600), '\(mark)'") }
        #expect(error?.code == .timedOut && db.isBroken)
        try await untilRunning(mark, 0)
    }

    @Test func aStatementThatIsAbandonedEndsAtTheServer() async throws {
        let (address, mark) = (try await address(), "mark\(UInt32.random(in: 0 ... .max))")
        let db = try PostgresConnection(address)
        db.cancelsAtServer = true
        let thread = WorkerPool(name: "statement", threads: 1)
        defer { thread.stop() }
        let outcome = Task { try await thread.run { _ = try db.script("SELECT pg_sleep(3600), '\(mark)'") } }
        try await untilRunning(mark, 1)
        db.abandon()
        await #expect(throws: TransferError.self) { try await outcome.value }
        try await untilRunning(mark, 0)
    }

    /// The end of a transaction is left to the server, which may wait for a standby.
    @Test func theEndOfATransactionIsNotGivenUp() async throws {
        let (db, table) = (try PostgresConnection(try await address()), "t\(UInt32.random(in: 0 ... .max))")
        // The end of the transaction takes longer than the limit, and could be cancelled.
        try db.script("CREATE TABLE \(table) (value int)")
        try db.script(
            """
            CREATE FUNCTION \(table)_wait() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_sleep(2); RETURN NULL; END'
            """)
        try db.script(
            """
            CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON \(table) DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION \(table)_wait()
            """)
        let insertion = PostgresStatement(direct: "INSERT INTO \(table) VALUES (1)")
        var during: [Bool] = []
        let error = #expect(throws: TransferError.self) {
            try PostgresTransaction.run(db) { db in
                try db.run(insertion)
                during.append(db.cancelsAtServer)
                db.limit = .now + .milliseconds(200)
                return PostgresOutcome(())
            }
        }
        #expect(error?.code == .timedOut && db.isBroken)
        #expect(during == [true] && !db.cancelsAtServer)
        for _ in 0..<500 {
            let count = try await PostgresServer.shared.ask("SELECT pg_sleep(0.01); SELECT count(*) FROM \(table)")
            if count.hasSuffix("1") { return }
        }
        Issue.record("the transaction was given up")
    }

    /// The lease is renewed meanwhile, so its end would never end the attempts.
    @Test func aStatementThatTheServerGivesUpIsRepeatedAFewTimes() async throws {
        let store = try PostgresStore(try await address(), .worker(PostgresWorker()))
        var attempts = 0
        let error = #expect(throws: PostgresFault.self) {
            try store.database.read { db in
                attempts += 1
                try db.script("SET statement_timeout = '20ms'")
                try db.script("SELECT pg_sleep(60)")
            }
        }
        #expect(error?.isCancelled == true && attempts == PostgresRetries.mostCancelled)
    }
}
