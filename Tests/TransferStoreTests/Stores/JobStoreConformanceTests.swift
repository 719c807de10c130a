import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore

/// The guarantees of every ``JobStore``, for each kind of storage.
@Suite struct JobStoreConformanceTests {
    private func job(_ name: String, host: String = "h.example", priority: Int = 0, needs: [String] = []) -> JobSpec {
        Sample.download("http://\(host)/x", to: name, id: name, needs: needs, priority: priority)
    }

    private func upload(_ name: String) -> JobSpec {
        Sample.upload(name, to: "http://h.example/\(name)", id: name, protocol: .tus)
    }

    // MARK: Claims

    @Test(arguments: StoreKind.allCases)
    func theMostUrgentIsClaimedFirstAndElseTheOrderOfTheFileHolds(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a"), job("b", priority: 5), job("c"), job("d", host: "other.example")]).batch
        let lane = Lane(batch: batch.id, origin: "http://h.example")
        #expect(
            try store.backlog(batch: batch.id).ready == [
                lane: 3, Lane(batch: batch.id, origin: "http://other.example"): 1,
            ])
        #expect(try store.claim(lane, limit: 2, secrets: [:]).jobs.map(\.record.identity) == ["b", "a"])
        #expect(try store.claim(lane, limit: 9, secrets: [:]).jobs.map(\.record.identity) == ["c"])
        #expect(try store.claim(lane, limit: 9, secrets: [:]).jobs.isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func jobsClaimedWhileStagingKeepTheSameOrder(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let jobs = (0..<40).map { job("\($0)", host: $0 % 3 == 0 ? "other.example" : "h.example") }
        let staged = try bench.store.stage(jobs, "b", StagingOptions(claiming: 16))
        let lane = Lane(batch: staged.batch.id, origin: "http://h.example")
        let expected = (0..<40).filter { $0 % 3 != 0 }.map { "\($0)" }
        #expect(try bench.store.backlog(batch: staged.batch.id).ready[lane] == expected.count)
        var claimed: [JobRecord] = []
        for limit in [3, 9, 90] {
            claimed += try bench.store.claim(lane, limit: limit, secrets: [:]).jobs.map(\.record)
        }
        #expect(claimed.map(\.identity) == expected)
        #expect(claimed.map(\.spec.identity) == expected)
    }

    @Test(arguments: StoreKind.allCases)
    func returnedJobsGoBeforeUnclaimedJobs(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage((0..<6).map { job("\($0)") }, "b", StagingOptions(claiming: 100)).batch.id
        let lane = Lane(batch: batch, origin: "http://h.example")
        let first = try store.claim(lane, limit: 3, secrets: [:]).jobs.map(\.record)
        try store.release([first[1].id])
        #expect(try store.claim(lane, limit: 2, secrets: [:]).jobs.map(\.record.identity) == ["1", "3"])
        try store.step(first[0], to: .queued)
        #expect(try store.claim(lane, limit: 9, secrets: [:]).jobs.map(\.record.identity) == ["0", "4", "5"])
    }

    @Test(arguments: StoreKind.allCases)
    func aBatchIsOneProcesssAtATime(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let batch = try bench.store.stage([job("a")]).batch.id
        let other = try bench.another()
        #expect(try other.hold(.unfinished).isEmpty)
        #expect(try other.hold(.named("b")).isEmpty)
        do {
            try other.stage([job("a")])
            Issue.record("taken")
        } catch StagingFailure.held(let held) {
            #expect(held.batch == "b")
        }
        _ = try bench.store.release(batch: batch, isComplete: false)
        #expect(try other.hold(.unfinished).map(\.name) == ["b"])
    }

    @Test(arguments: StoreKind.allCases)
    func aProcessThatEndsInOrderLeavesNothingInterrupted(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let other = try bench.another()
        let batch = try other.stage([job("a"), job("b")], "b", StagingOptions(claiming: 9)).batch.id
        #expect(try other.claimAll(batch, limit: 1).count == 1)
        try other.retire()
        #expect(try bench.store.hold(.unfinished).count == 1)
        #expect(try bench.store.claimAll(batch).map(\.wasInterrupted) == [false, false])
    }

    // MARK: Leases

    @Test(arguments: StoreKind.allCases)
    func jobsOfALostProcessGoToTheNextAsInterrupted(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let other = try bench.another()
        let batch = try other.stage([job("a"), job("b")], "b", StagingOptions(claiming: 9)).batch.id
        let first = try other.claimAll(batch, limit: 1)
        try bench.lose(other)
        #expect(try bench.store.hold(.unfinished).map(\.name) == ["b"])
        let claimed = try bench.store.claimAll(batch)
        #expect(claimed.map(\.identity) == ["a", "b"])
        #expect(claimed.map(\.wasInterrupted) == [true, false])
        // The clock of the claiming process is compared with the store's at each claim.
        #expect(abs(claimed[0].claimed - first[0].claimed) < 1000, "since when it is under way is known")
    }

    @Test(arguments: StoreKind.allCases)
    func aLeaseThatIsRenewedHolds(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let batch = try bench.store.stage([job("a")]).batch.id
        let lease = try bench.store.renew()
        #expect(try bench.store.renew().generation == lease.generation)
        let other = try bench.another()
        #expect(try other.renew().generation != lease.generation)
        #expect(try other.hold(.unfinished).isEmpty)
        #expect(try bench.store.claimAll(batch).count == 1)
    }

    /// A change that one process may make to jobs.
    enum Change: String, CaseIterable, Sendable {
        case claim, release, wake, done, step, note, redo, steer, stage, hold, renew
    }

    /// A job of a lost lease cannot be changed, as two processes would otherwise record the same job.
    @Test(arguments: StoreKind.allCases, Change.allCases)
    func aProcessWhoseLeaseWasTakenOverChangesNothing(_ kind: StoreKind, _ change: Change) async throws {
        let bench = try await StoreBench(kind)
        let other = try bench.another()
        let batch = try other.stage([job("a"), job("b")]).batch.id
        let record = try other.claimAll(batch, limit: 1)[0]
        try bench.lose(other)
        #expect(try bench.store.hold(.unfinished).count == 1)
        let own = try bench.store.claimAll(batch)
        #expect(own.count == 2)
        let before = try bench.store.counts(batch)
        #expect(throws: LeaseLost.self) {
            switch change {
            case .claim:
                _ = try other.claim(Lane(batch: batch, origin: "http://h.example"), limit: 1, secrets: [:])
            case .release: try other.release([record.id])
            case .wake: _ = try other.wake([record.id])
            case .done: try other.succeed(record)
            case .step: try other.step(record, to: .queued)
            case .note: try other.note([.upload(nil, of: record.id)])
            case .redo: try other.redo([record.id], .ask)
            case .steer: _ = try other.apply(QueueCommand(id: 1, verb: .cancel, batch: batch, job: nil))
            case .stage: try other.stage([job("c")], "c")
            case .hold: _ = try other.hold(.unfinished)
            case .renew: try other.renew()
            }
        }
        #expect(try bench.store.counts(batch) == before)
        #expect(try bench.store.lastCursor() == 0)
        try bench.store.succeed(own[0])
        #expect(try bench.store.counts(batch) == [.done: 1, .claimed: 1])
    }

    // MARK: Records on the way

    @Test(arguments: StoreKind.allCases)
    func aBodyThatMustNotBeSentTwiceEndsWithItsProcess(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let other = try bench.another()
        let batch = try other.stage([upload("a"), upload("b"), job("c", needs: ["a"])]).batch.id
        let claimed = try other.claimAll(batch)
        for record in claimed { try other.note([.sending(record.id, isUnrepeatable: true, version: nil)]) }
        // The server can be asked which bytes of this upload it has.
        try other.note([.upload(.sample(), of: claimed[1].id)])
        try bench.lose(other)
        _ = try bench.store.hold(.unfinished)
        #expect(
            try bench.store.names(bench.store.ends(after: 0, limit: 9)) == [
                "failed a mayHaveBeenSent", "skipped c for a",
            ])
        let again = try bench.store.claimAll(batch)
        #expect(again.map(\.identity) == ["b"] && again[0].upload == .sample() && again[0].wasInterrupted)
    }

    @Test(arguments: StoreKind.allCases)
    func recordsOfAnAttemptAreThereForTheNext(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([upload("a"), job("b")]).batch.id
        let claimed = try store.claimAll(batch)
        let part = ResumeData(
            url: "http://h.example/x", validator: nil, total: 12, bootID: "b", partialFile: "/tmp/x.part")
        try store.note([
            .sending(claimed[0].id, isUnrepeatable: false, version: .versionOnly), .part(part, of: claimed[1].id),
        ])
        try store.release(claimed.map(\.id))
        let again = try store.claimAll(batch)
        #expect(again.map(\.upload) == [.versionOnly, nil])
        #expect(again[1].resume?.total == 12)
        // The end of a job replaces earlier records.
        try store.fail(again[1])
        try store.note([.part(part, of: again[1].id)])
        _ = try store.apply(QueueCommand(id: 1, verb: .retry, batch: batch, job: "b"))
        #expect(try store.claimAll(batch).map(\.resume) == [nil])
    }

    @Test(arguments: StoreKind.allCases)
    func aStepCarriesTheAttemptsAndTheWait(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a"), job("b")]).batch.id
        let claimed = try store.claimAll(batch)
        try store.step(claimed[0], to: .waiting, due: .now + .seconds(100), attempts: 4)
        try store.step(claimed[1], to: .paused, attempts: 2)
        let backlog = try store.backlog(batch: batch)
        #expect(backlog.ready.isEmpty && backlog.sleepers.map(\.id) == [claimed[0].id])
        let due = try #require(backlog.sleepers.first?.due)
        #expect(due > .now + .seconds(90) && due <= .now + .seconds(101))
        let lane = Lane(batch: batch, origin: "http://h.example")
        #expect(try store.wake(claimed.map(\.id)) == [lane: 1], "what was paused meanwhile stays so")
        let again = try store.claimAll(batch)
        #expect(again.map(\.identity) == ["a"] && again[0].attempts == 4)
    }

    @Test(arguments: StoreKind.allCases)
    func aJobWithoutItsSecretIsNotHandedOut(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let signed = Sample.download("http://h.example/x?X-Amz-Signature=abc", to: "signed", id: "signed")
        let staged = try store.stage([signed, job("open")])
        let lane = Lane(batch: staged.batch.id, origin: "http://h.example")
        let known = try store.claim(lane, limit: 1, secrets: staged.secrets)
        #expect(known.jobs.first?.record.spec.urls == ["http://h.example/x?X-Amz-Signature=abc"])
        try store.release(known.jobs.map(\.record.id))
        let unknown = try store.claim(lane, limit: 9, secrets: [:])
        #expect(unknown.unreadable.map(\.identity) == ["signed"])
        #expect(unknown.unreadable.map(\.error.code) == [.secretMissing])
        #expect(unknown.jobs.map(\.record.identity) == ["open"])
    }

    // MARK: Ends

    @Test(arguments: StoreKind.allCases)
    func endsAreNumberedInTheirOrderAndReadAfterACursor(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage((0..<5).map { job("\($0)") }).batch.id
        let claimed = try store.claimAll(batch)
        let group = try store.record(
            [3, 1].map { index in
                JobEnd(
                    id: claimed[index].id, batch: batch, identity: claimed[index].identity,
                    outcome: .done(Sample.receipt("b", claimed[index].identity), nil))
            }, [])
        #expect(group.cursors == [1, 2])
        try store.fail(claimed[0])
        #expect(try store.end(claimed[2], .cancelled).cursors == [4])
        let all = try store.ends(after: 0, limit: 9)
        #expect(store.names(all) == ["done 3", "done 1", "failed 0 httpStatus", "cancelled 2"])
        #expect(all.map(\.cursor) == [1, 2, 3, 4])
        #expect(try store.names(store.ends(after: 1, limit: 2)) == ["done 1", "failed 0 httpStatus"])
        #expect(try store.lastCursor() == 4)
        #expect(try store.failures(batch: "b", limit: 9).map(\.job) == ["0"])
        #expect(try store.end(batch: "b", job: "1")?.cursor == 2)
        #expect(try store.end(batch: "b", job: "4") == nil && store.end(batch: "b", job: "none") == nil)
    }

    @Test(arguments: StoreKind.allCases)
    func aReceiptIsReadAsItWasWritten(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a")]).batch.id
        let record = try store.claimAll(batch)[0]
        let receipt = Sample.receipt("b", "a", path: "/tmp/a", route: JobRoute(record.spec))
        try store.end(record, .done(receipt, FileStamp(size: 7, modified: 1)))
        guard case .finished(let read)? = try store.end(batch: "b", job: "a")?.kind else {
            Issue.record("no receipt")
            return
        }
        #expect(read == receipt)
        let complete = try store.completed(batch: batch, after: 0, limit: 9)
        #expect(complete.map(\.identity) == ["a"] && complete[0].path == "/tmp/a" && complete[0].validator == "\"v1\"")
        try store.redo(complete.map(\.id), .ask)
        let again = try store.claimAll(batch)
        #expect(again[0].recheck == .ask && again[0].facts?.size == 7 && again[0].validator == "\"v1\"")
        #expect(again[0].place?.url == "http://h.example/x")
        #expect(try store.ends(after: 0, limit: 9).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func completeJobsComeAPageAtATime(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage((0..<5).map { job("\($0)") }).batch.id
        for record in try store.claimAll(batch) { try store.succeed(record) }
        let first = try store.completed(batch: batch, after: 0, limit: 3)
        let second = try store.completed(batch: batch, after: first[2].id, limit: 3)
        #expect((first + second).map(\.identity) == ["0", "1", "2", "3", "4"])
    }
}
