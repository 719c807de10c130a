import FoundationEssentials
import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStorePostgres

/// The guarantees of the store for many machines that no other store has.
@Suite(.enabled(if: PostgresServer.isWanted)) struct PostgresStoreTests {
    private func address(_ server: PostgresServer? = nil) async throws -> PostgresAddress {
        let queue = UUID().uuidString.lowercased().replacing("-", with: "")
        guard let server else { return try PostgresAddress(await PostgresServer.shared.url(queue: queue)) }
        return try PostgresAddress(server.url(queue: queue))
    }

    private func jobs(_ count: Int) -> [JobSpec] {
        (0..<count).map { Sample.download("http://h.example/\($0)", to: "\($0)", id: "\($0)") }
    }

    // MARK: Many processes

    @Test func processesThatClaimAtTheSameTimeGetEachJobOnce() async throws {
        let address = try await address()
        let batch = try PostgresStore(address).stage(jobs(600)).batch.id
        let lane = Lane(batch: batch, origin: "http://h.example")
        let claimed = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let store = try PostgresStore(address)
                    var ids: [Int64] = []
                    while true {
                        let page = try store.claim(lane, limit: 7, secrets: [:]).jobs.map(\.record)
                        guard !page.isEmpty else { return ids }
                        for record in page { try store.succeed(record) }
                        ids += page.map(\.id)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(claimed.count == 600 && Set(claimed).count == 600)
        let reader = try PostgresStore(address)
        #expect(try reader.counts(batch) == [.done: 600])
        #expect(try reader.ends(after: 0, limit: 1000).compactMap(\.cursor) == Array(1...600))
    }

    @Test func processesThatOpenANewQueueAtTheSameTimeMakeItOnce() async throws {
        let address = try await address()
        let generations = try await withThrowingTaskGroup(of: Int64.self) { group in
            for _ in 0..<6 { group.addTask { try PostgresStore(address).database.process } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(generations).count == 6)
    }

    @Test func queuesOfOneDatabaseKnowNothingOfEachOther() async throws {
        let (one, other) = (try PostgresStore(await address()), try PostgresStore(await address()))
        try one.stage(jobs(2))
        #expect(try other.batchRegister().names.isEmpty)
        #expect(try other.stage(jobs(1)).batch.id == 1)
    }

    /// Only the generation that claimed a job records its end, whatever the numbers of the rows are.
    @Test func anEndOfAJobThatAnotherProcessHasClaimedChangesNothing() async throws {
        let address = try await address()
        let (one, other) = (try PostgresStore(address), try PostgresStore(address))
        let batch = try one.stage(jobs(1)).batch.id
        let record = try one.claimAll(batch)[0]
        try other.fail(record)
        try other.step(record, to: .queued)
        try other.release([record.id])
        #expect(try one.counts(batch) == [.claimed: 1])
        try one.succeed(record)
        #expect(try one.counts(batch) == [.done: 1])
    }

    @Test func aTokenBearsTheTimelineOfTheDatabase() async throws {
        let store = try PostgresStore(await address())
        #expect(store.database.process >> 40 == 1, "the first timeline of a new database")
    }

    // MARK: Texts

    @Test func textsComeBackAsTheyWent() async throws {
        let store = try PostgresStore(await address())
        let names = [
            "tab\tand\nline\r", "back\\slash \\N \\.", "quo\"te {a,b} NULL", "'; DROP TABLE job; --", "ümläut 日本 🎉",
            " ",
        ]
        let specs = names.enumerated().map { index, name in
            Sample.download(
                "http://h.example/\(index)", to: "to\(index)", id: name, needs: index == 0 ? [] : [names[index - 1]])
        }
        let batch = try store.stage(specs).batch.id
        for name in names {
            let record = try #require(store.claimAll(batch).first)
            #expect(record.identity == name && record.spec.id == name)
            try store.succeed(record)
        }
        #expect(try store.end(batch: "b", job: names[2]) != nil)
        #expect(try store.ends(after: 0, limit: 9).count == names.count)
    }

    @Test func aNameMayBeLongerThanAnIndexTakes() async throws {
        let store = try PostgresStore(await address())
        let name = String((0..<20_000).map { _ in Character(UnicodeScalar(UInt8.random(in: 97...122))) })
        let batch = try store.stage([Sample.download("http://h.example/", to: "x", id: name)]).batch.id
        #expect(try store.claimAll(batch).map(\.identity) == [name])
    }

    // MARK: Versions

    @Test func aQueueOfANewerVersionIsRefusedAndLeftAsItIs() async throws {
        let address = try await address()
        let store = try PostgresStore(address)
        try store.database.write { db in
            _ = try db.run(PostgresStatement(direct: "INSERT INTO step (name) VALUES ('from the future')"))
        }
        let error = #expect(throws: TransferError.self) { _ = try PostgresStore(address) }
        #expect(error?.message.contains("newer version") == true && error?.message.contains("from the future") == true)
        #expect(try store.batchRegister().names.isEmpty, "what is open goes on")
    }

    @Test func aQueueIsNotChangedUnderAnEarlierVersionThatWorksOnIt() async throws {
        let address = try await address()
        let store = try PostgresStore(address)
        var migration = PostgresMigration(address: address)
        migration.steps.append(PostgresSchema.Step("next", "CREATE TABLE next (id BIGINT)"))
        func migrate() throws { try store.database.read { try migration.run($0) } }
        let error = #expect(throws: TransferError.self) { try migrate() }
        #expect(error?.message.contains("stop ") == true)
        try store.retire()
        try migrate()
        try migrate()
        #expect(throws: TransferError.self) { _ = try PostgresStore(address) }
    }

    // MARK: Failures

    @Test func theQueueContinuesAfterARestartOfTheDatabase() async throws {
        let server = try await PostgresServer.start()
        let store = try PostgresStore(await address(server))
        let batch = try store.stage(jobs(3)).batch.id
        let claimed = try store.claimAll(batch)
        try store.succeed(claimed[0])
        try await server.kill()
        #expect(throws: TransferError.self) { try store.succeed(claimed[1]) }
        let next = try await server.startAgain()
        try store.succeed(claimed[1])
        #expect(try store.counts(batch) == [.done: 2, .claimed: 1])
        #expect(try store.ends(after: 0, limit: 9).compactMap(\.cursor) == [1, 2])
        await next.stop()
    }

    @Test func aWaitForTheDatabaseCanBeGivenUp() async throws {
        let store = try PostgresStore(await address())
        let waiting = Task.detached {
            try store.database.read { db in _ = try db.run(PostgresStatement(direct: "SELECT pg_sleep(3600)")) }
        }
        // The abandonment takes effect before the query or after it.
        store.database.abandon()
        await #expect(throws: TransferError.self) { try await waiting.value }
        #expect(throws: TransferError.self) { try store.renew() }
    }
}
