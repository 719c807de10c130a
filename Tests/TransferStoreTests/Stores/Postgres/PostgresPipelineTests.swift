import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// Statements that share a round trip, and the round trips that the store needs.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(1))) struct PostgresPipelineTests {
    private let queue = UUID().uuidString.lowercased().replacing("-", with: "")

    private static let insertion = PostgresStatement(direct: "INSERT INTO seen VALUES ($1)")
    private static let sum = PostgresStatement(direct: "SELECT coalesce(sum(number), 0) FROM seen")
    private static let nonsense = PostgresStatement(direct: "SELECT no_such_column FROM seen")
    private static let division = PostgresStatement(direct: "SELECT 1 / $1::integer")

    /// Opens a connection with a table of its own.
    private func connect() async throws -> PostgresConnection {
        let db = try PostgresConnection(PostgresAddress(await PostgresServer.shared.url(queue: queue)))
        try db.script("CREATE TEMPORARY TABLE seen (number BIGINT NOT NULL)")
        return db
    }

    private func total(_ db: PostgresConnection) throws -> Int? { try db.run(Self.sum).first?.int(0) }

    // MARK: Order and faults

    @Test func postedStatementsRunBeforeTheNextQuery() async throws {
        let db = try await connect()
        let before = try db.post(Self.sum)
        for number in 1...100 { try db.post(Self.insertion, [number]) }
        #expect(try total(db) == 5050)
        #expect(try before.rows().first?.int(0) == 0)
    }

    @Test(arguments: [true, false])
    func statementsAfterAFailureAreSkippedAndTheConnectionContinues(_ failsWhenPrepared: Bool) async throws {
        let db = try await connect()
        try db.post(Self.insertion, [1])
        if failsWhenPrepared { try db.post(Self.nonsense) } else { try db.post(Self.division, [0]) }
        let behind = try db.post(Self.insertion, [10])
        let fault = #expect(throws: PostgresFault.self) { try db.settle() }
        #expect(fault?.code == (failsWhenPrepared ? "42703" : "22012"))
        #expect(throws: PostgresFault.self) { try behind.rows() }
        #expect(!db.isBroken)
        #expect(try total(db) == 0, "without BEGIN a flight is a transaction, too")
        try db.post(Self.insertion, [100])
        #expect(try total(db) == 100, "and is prepared anew where that had come to nothing")
    }

    @Test func aTransactionWithAFaultIsGivenUpAsAWhole() async throws {
        let db = try await connect()
        let fault = #expect(throws: PostgresFault.self) {
            try PostgresTransaction.run(db) { db in
                try db.post(Self.insertion, [1])
                try db.post(Self.division, [0])
                return PostgresOutcome(())
            }
        }
        #expect(fault?.code == "22012")
        #expect(try total(db) == 0)
    }

    @Test func manyLargeStatementsSucceedBeforeACopy() async throws {
        let db = try await connect()
        let text = String(repeating: "x", count: 20_000)
        let echo = PostgresStatement(direct: "SELECT $1::text")
        let answers = try (0..<200).map { try db.post(echo, ["\($0)\(text)"]) }
        let copy = try PostgresCopy(db, "COPY seen FROM STDIN")
        try copy.add { $0.add(7) }
        try copy.finish()
        for (number, answer) in answers.enumerated() {
            #expect(try answer.rows().first?.text(0)?.hasPrefix("\(number)x") == true)
        }
        #expect(try total(db) == 7)
    }

    // MARK: Round trips

    @Test func groupsOfJobsTakeTwoRoundTripsAndNotesTakeOne() async throws {
        let server = try await PostgresServer.shared
        let relay = try LosingRelay(to: server)
        let submitter = try PostgresStore(PostgresAddress(server.url(queue: queue)), .submitter)
        let jobs = (0..<40).map { Sample.download("http://h.example/", to: "\($0)", id: "\($0)") }
        let batch = try submitter.stage(jobs).batch.id
        _ = try submitter.release(batch: batch, isComplete: false)
        let worker = try PostgresStore(
            PostgresAddress(relay.url(queue: queue, login: "transfer")), .worker(PostgresWorker()))
        func turns(_ work: () throws -> Void) throws -> Int {
            let before = relay.turns
            try work()
            return relay.turns - before
        }
        var claimed: [JobRecord] = []
        let lane = Lane(batch: batch, origin: "http://h.example")
        #expect(
            try turns { claimed = try worker.claim(lane, limit: 30, secrets: [:]).jobs.map(\.record) } == 2)
        #expect(claimed.count == 30)
        let ends = claimed.prefix(20).map { record in
            JobEnd(id: record.id, batch: batch, identity: record.identity, outcome: .cancelled)
        }
        var cursors: [Int64] = []
        #expect(try turns { cursors = try worker.record(ends, []).cursors } == 2)
        #expect(cursors == Array(1...20))
        #expect(try turns { try worker.note(claimed.suffix(10).map { .abandoned($0.id) }) } == 1)
        // A job with a pending cancel command is cancelled when it is given back: the answer names it.
        #expect(try turns { try worker.release(claimed.suffix(10).map(\.id)) } == 2)
        #expect(try submitter.counts(batch) == [.cancelled: 20, .queued: 20])
    }
}
