import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore

/// The guarantees of every ``JobStore`` about submissions that have a key.
@Suite struct JobStoreKeyTests {
    private func job(_ name: String, named: Bool = false) -> JobSpec {
        Sample.download("http://h.example/\(name)", to: name, id: named ? name : nil)
    }

    private let key = SubmissionKey("k", digest: "d")

    @discardableResult
    private func submit(
        _ store: any JobStore, _ names: [String], _ key: SubmissionKey? = nil, to batch: String = "b",
        named: Bool = false
    ) throws -> (result: SubmittedJobs, staged: StagedJobs) {
        let group = SubmissionGroup(names.map { job($0, named: named) }, key: key)
        let (results, staged) = try store.submit([group], batch: batch, directory: "/", startsPaused: false)
        return (try #require(results.first), staged)
    }

    /// Jobs that are added to a running batch take a different path from jobs that are compared with existing ones.
    @Test(arguments: StoreKind.allCases, [false, true])
    func theRepeatedAnswerHasTheSameNumbers(_ kind: StoreKind, named: Bool) async throws {
        let bench = try await StoreBench(kind)
        try submit(bench.store, ["b"], named: named)
        let (result, staged) = try submit(bench.store, ["a", "b", "c"], key, named: named)
        guard case .taken(let numbers, 2) = result else {
            Issue.record("\(result)")
            return
        }
        let answer = try #require(try bench.store.answered(key: "k"))
        #expect(answer.key == key && answer.batch == staged.batch.id && answer.added == 2 && !answer.isNewBatch)
        #expect(answer.numbers == numbers && Set(numbers).count == 3)
        #expect(try bench.another().answered(key: "k") == answer)
        #expect(try bench.store.answered(key: "other") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchThatIsTakenAsAWholeIsRememberedWithoutItsJobs(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let options = StagingOptions(claiming: 9, notes: [SubmissionNote(key)])
        let staged = try store.stage((0..<3).map { job("\($0)") }, "b", options)
        let answer = try #require(try store.answered(key: "k"))
        #expect(answer.batch == staged.batch.id && answer.isNewBatch && answer.added == 3 && answer.numbers.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func nothingIsTakenASecondTimeForOneKey(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let batch = try submit(bench.store, ["a"], key).staged.batch.id
        let before = try bench.store.answered(key: "k")
        #expect(throws: SubmissionKeyTaken(name: "k")) { try submit(bench.store, ["a", "b"], key) }
        #expect(throws: SubmissionKeyTaken(name: "k")) { try submit(bench.store, ["c"], key, named: true) }
        #expect(throws: SubmissionKeyTaken(name: "k")) {
            try bench.store.stage([job("x")], "other", StagingOptions(notes: [SubmissionNote(key)]))
        }
        let other = try bench.another()
        #expect(throws: SubmissionKeyTaken(name: "k")) { try submit(other, ["d"], key, to: "theirs") }
        #expect(try bench.store.counts(batch) == [.queued: 1])
        #expect(try bench.store.batchRegister().names == ["b"])
        #expect(try bench.store.answered(key: "k") == before)
    }

    @Test(arguments: StoreKind.allCases)
    func aRefusedSubmissionLeavesItsKeyFree(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        try submit(store, ["a"])
        let other = Sample.download("http://h.example/other", to: "a")
        let groups = [
            SubmissionGroup([other], key: key), SubmissionGroup([job("b")], key: SubmissionKey("l", digest: "e")),
        ]
        let (results, _) = try store.submit(groups, batch: "b", directory: "/", startsPaused: false)
        guard case .conflict(0, "a") = results[0], case .taken(_, 1) = results[1] else {
            Issue.record("\(results)")
            return
        }
        #expect(try store.answered(key: "k") == nil)
        #expect(try store.answered(key: "l")?.added == 1)
        let needy = Sample.download("http://h.example/x", to: "x", id: "x", needs: ["none"])
        #expect(throws: (any Error).self) {
            try store.submit([SubmissionGroup([needy], key: key)], batch: "b", directory: "/", startsPaused: false)
        }
        #expect(try store.answered(key: "k") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func jobsThatWereThereAlreadyAreAnAnswerToo(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        guard case .taken(let numbers, 1) = try submit(store, ["a"]).result else { return }
        try submit(store, ["a"], key)
        #expect(try store.answered(key: "k")?.numbers == numbers)
        #expect(try store.answered(key: "k")?.added == 0)
    }

    @Test(arguments: StoreKind.allCases)
    func theAnswerOutlivesItsBatch(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try submit(store, ["a"], key).staged.batch.id
        _ = try store.release(batch: batch, isComplete: false)
        #expect(try store.forget(name: "b", endedBefore: nil) == ["b"])
        #expect(try store.answered(key: "k")?.batch == batch)
    }

    @Test(arguments: StoreKind.allCases)
    func aKeyIsFreeAgainAfterADayAndItsAnswerIsGone(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        try submit(bench.store, ["a"], key)
        try submit(bench.store, ["b"], SubmissionKey("l", digest: "e"))
        try bench.ageSubmissions(by: SubmissionKey.lifetime - 60_000)
        #expect(try bench.store.answered(key: "k") != nil)
        try bench.ageSubmissions(by: 60_000)
        #expect(try bench.store.answered(key: "k") == nil)
        #expect(try bench.submissions() == 2)
        try submit(bench.store, ["c"], SubmissionKey("k", digest: "another"))
        #expect(try bench.store.answered(key: "k")?.key.digest == "another")
        #expect(try bench.submissions() == 1, "the others' time is over")
    }

    @Test(arguments: StoreKind.allCases)
    func aProcessWhoseLeaseWasTakenOverRemembersNothing(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let other = try bench.another()
        try submit(other, ["a"])
        try bench.lose(other)
        _ = try bench.store.hold(.unfinished)
        #expect(throws: LeaseLost.self) { try submit(other, ["b"], key) }
        #expect(try bench.store.answered(key: "k") == nil)
    }

    @Test(arguments: [[], [1], [1, 2, 3], [5, 3, 4], [7, 7, 8], [1, 3, 5, 6]] as [[Int64]])
    func numbersAreReadAsTheyWereWritten(_ numbers: [Int64]) {
        #expect(NumberRuns.numbers(NumberRuns.text(numbers)) == numbers)
    }
}
