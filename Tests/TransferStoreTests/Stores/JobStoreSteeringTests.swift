import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore

/// The guarantees of every ``JobStore`` about needs, commands, and batches that are staged anew.
@Suite struct JobStoreSteeringTests {
    private func job(_ name: String, needs: [String] = [], url: String = "http://h.example/x") -> JobSpec {
        Sample.download(url, to: name, id: name, needs: needs)
    }

    private func upload(_ name: String) -> JobSpec {
        Sample.upload(name, to: "http://h.example/\(name)", id: name, protocol: .tus)
    }

    // MARK: Submissions

    @Test(arguments: StoreKind.allCases)
    func theJobsOfEachCallerAreTakenAllOrNotAtAll(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let groups = [
            [job("a"), job("b")], [job("c"), job("a", url: "http://h.example/other")], [job("b"), job("d")],
        ].map { SubmissionGroup($0) }
        let first = try store.submit(groups, batch: "b", directory: "/", startsPaused: false)
        let batch = first.staged.batch.id
        #expect(try store.counts(batch) == [.queued: 3])
        guard case .taken(let numbers, 2) = first.results[0], case .conflict(1, "a") = first.results[1],
            case .taken(let others, 1) = first.results[2]
        else {
            Issue.record("\(first.results)")
            return
        }
        #expect(numbers.count == 2 && others.first == numbers.last && Set(numbers + others).count == 3)
        // A repeated submission is stored once, for any caller; the new jobs beside it start paused.
        let again = try store.submit(
            [SubmissionGroup([job("a"), job("e")])], batch: "b", directory: "/", startsPaused: true)
        guard case .taken(let known, 1) = again.results[0] else {
            Issue.record("\(again.results)")
            return
        }
        #expect(known.first == numbers.first)
        #expect(try store.counts(batch) == [.queued: 3, .paused: 1])
        #expect(try Set(store.claimAll(batch).map(\.id)) == Set(numbers + others))
    }

    @Test(arguments: StoreKind.allCases)
    func aJobIsAmendedThatWaitsOrThatThisProcessHas(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let store = bench.store
        let taken = try store.submit(
            [SubmissionGroup([job("a"), job("b")])], batch: "b", directory: "/", startsPaused: false)
        guard case .taken(let numbers, _) = taken.results[0] else {
            Issue.record("\(taken.results)")
            return
        }
        #expect(try store.amend([numbers[1]], isOwn: false) { $0.priority = 7 } == [numbers[1]])
        #expect(try store.amend([numbers[1]], isOwn: true) { $0.priority = 1 }.isEmpty)
        let claimed = try store.claimAll(taken.staged.batch.id)
        #expect(claimed.map(\.identity) == ["b", "a"] && claimed.first?.spec.priority == 7)
        #expect(try store.amend([numbers[1], 4711], isOwn: false) { $0.priority = 1 }.isEmpty)
        #expect(try store.amend([numbers[1], 4711], isOwn: true) { $0.priority = 3 } == [numbers[1]])
        // The job comes back with its change.
        try store.release([numbers[1]])
        #expect(try store.claimAll(taken.staged.batch.id).first?.spec.priority == 3)
    }

    /// The signature of a failed job has expired, and a newer one has come.
    @Test(arguments: StoreKind.allCases)
    func onlyFailedJobsAreRenewed(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a"), job("b"), job("c")]).batch.id
        let claimed = try store.claimAll(batch)
        try store.fail(claimed[0])
        try store.succeed(claimed[1])
        let numbers = claimed.map(\.id)
        #expect(try store.renew(numbers + [4711]) { _ in }.isEmpty, "the same content is no reason for an attempt")
        #expect(try store.renew(numbers + [4711]) { $0.settings.sealed = "new" } == [numbers[0]])
        _ = try store.apply(QueueCommand(id: 1, verb: .retry, batch: batch, job: claimed[0].identity))
        #expect(try store.claimAll(batch).map(\.spec.settings.sealed) == ["new"])
    }

    @Test(arguments: StoreKind.allCases)
    func jobsThatWereClaimedAheadWithTheirBatchAreAmended(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage((0..<6).map { job("\($0)") }, "b", StagingOptions(claiming: 9)).batch.id
        let first = try #require(try store.claimAll(batch, limit: 1).first)
        let numbers = (0..<6).map { first.id + Int64($0) }
        let changed = try store.amend(numbers, isOwn: false) { $0.priority = $0.identity == "4" ? 7 : 1 }
        #expect(changed == Set(numbers.dropFirst()))
        let claimed = try store.claimAll(batch)
        #expect(claimed.map(\.identity) == ["4", "1", "2", "3", "5"])
        #expect(claimed.map(\.spec.priority) == [7, 1, 1, 1, 1])
    }

    // MARK: Needs

    @Test(arguments: StoreKind.allCases)
    func aJobStartsWhenAllItsNeedsAreComplete(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a"), job("b"), job("c", needs: ["a", "b"])]).batch.id
        #expect(try store.counts(batch) == [.queued: 2, .blocked: 1])
        let claimed = try store.claimAll(batch)
        #expect(try store.succeed(claimed[0]).unblocked.isEmpty)
        let lane = Lane(batch: batch, origin: "http://h.example")
        #expect(try store.succeed(claimed[1]).unblocked == [lane: 1])
        #expect(try store.claimAll(batch).map(\.identity) == ["c"])
    }

    @Test(arguments: StoreKind.allCases)
    func allDependentsOfAFailedJobAreSkipped(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a"), job("b", needs: ["a"]), job("c", needs: ["b"]), job("d")]).batch.id
        let group = try store.fail(store.claimAll(batch)[0])
        #expect(group.skipped.map(\.identity) == ["b", "c"] && group.skipped.map(\.need) == ["a", "b"])
        #expect(group.cursors == [1] && group.skipped.map(\.cursor) == [2, 3])
        #expect(
            try store.names(store.ends(after: 0, limit: 9)) == [
                "failed a httpStatus", "skipped b for a", "skipped c for b",
            ])
        // All of the jobs begin anew.
        let retried = try store.apply(QueueCommand(id: 1, verb: .retry, batch: batch, job: nil))
        #expect(retried.jobs.map(\.identity).sorted() == ["a", "b", "c"])
        #expect(try store.counts(batch) == [.queued: 1, .blocked: 2, .claimed: 1])
        #expect(try store.ends(after: 0, limit: 9).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func needsThatCannotBeMetAreFaultsAndNothingIsTaken(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        func faults(_ jobs: [JobSpec]) throws -> [String] {
            do {
                try store.stage(jobs)
                return []
            } catch StagingFailure.faults(let report) {
                return report.faults.map(\.message)
            }
        }
        #expect(try faults([job("a", needs: ["x"])]) == ["job \"a\" needs \"x\", which is not in this batch"])
        #expect(
            try faults([job("a", needs: ["b"]), job("b", needs: ["a"])])
                .allSatisfy { $0.hasPrefix("jobs need each other in a circle: ") })
        #expect(try store.batchRegister().names.isEmpty)
    }

    // MARK: Commands

    /// Makes a job in this state, and five unrelated jobs.
    private func make(_ state: JobState, in store: any JobStore) throws -> Int64 {
        let needs = state == .blocked || state == .skipped ? ["other"] : []
        let batch = try store.stage([job("x", needs: needs), job("other")]).batch.id
        let claimed = try store.claimAll(batch)
        guard let record = claimed.first(where: { $0.identity == (needs.isEmpty ? "x" : "other") }) else {
            return batch
        }
        switch state {
        case .claimed: break
        case .queued: try store.release([record.id])
        case .waiting: try store.step(record, to: .waiting, due: .now + .seconds(1000))
        case .paused: try store.step(record, to: .paused)
        case .blocked: try store.release([record.id])
        case .done: try store.succeed(record)
        case .failed, .skipped: try store.fail(record)
        case .cancelled: try store.end(record, .cancelled)
        }
        return batch
    }

    private func state(of store: any JobStore, _ batch: Int64) throws -> JobState? {
        let others = try store.counts(batch)
        // The counts cover two jobs: the state of the other job is removed.
        var left = others
        for state in [JobState.claimed, .queued, .failed] where left[state] != nil && left.values.reduce(0, +) == 2 {
            left[state] = left[state].map { $0 - 1 }
            break
        }
        return left.first { $0.value > 0 }?.key
    }

    /// The rule is `QueueVerb.states`; no other job changes.
    @Test(arguments: StoreKind.allCases, QueueVerb.allCases)
    func aCommandChangesJobsInItsStatesOnly(_ kind: StoreKind, _ verb: QueueVerb) async throws {
        for state in JobState.allCases {
            let store = try await StoreBench(kind).store
            let batch = try make(state, in: store)
            let applied = try store.apply(QueueCommand(id: 1, verb: verb, batch: batch, job: "x"))
            #expect(applied.count == (verb.states.contains(state) ? 1 : 0), "\(verb) \(state)")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func aCommandForARunningBatchIsLeftToItsProcess(_ kind: StoreKind) async throws {
        let bench = try await StoreBench(kind)
        let batch = try bench.store.stage([job("a"), job("b")]).batch.id
        let other = try bench.another()
        for (verb, name) in [(QueueVerb.pause, "a"), (.cancel, nil)] as [(QueueVerb, String?)] {
            guard case .handed = try other.deliver(verb, batch: "b", job: name) else {
                Issue.record("applied")
                continue
            }
        }
        #expect(try other.takeCommands().isEmpty)
        #expect(try bench.store.takeCommands().map(\.verb) == [.pause, .cancel])
        #expect(try bench.store.takeCommands().isEmpty)
        #expect(try bench.store.counts(batch) == [.queued: 2])
        #expect(try other.deliver(.retry, batch: "b", job: "a") == .applied(jobs: 0), "there is nothing to retry")
        #expect(try other.deliver(.pause, batch: "b", job: "none") == .noSuchJob)
        #expect(try other.deliver(.pause, batch: "none", job: nil) == .noSuchBatch)
        _ = try bench.store.release(batch: batch, isComplete: false)
        #expect(try other.deliver(.cancel, batch: "b", job: nil) == .applied(jobs: 2))
    }

    @Test(arguments: StoreKind.allCases)
    func aCommandReachesUnstartedJobsClaimedAtStaging(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage((0..<4).map { job("\($0)") }, "b", StagingOptions(claiming: 9)).batch.id
        #expect(try store.claimAll(batch, limit: 1).count == 1)
        let applied = try store.apply(QueueCommand(id: 1, verb: .pause, batch: batch, job: nil))
        #expect(applied.jobs.map(\.identity).sorted() == ["1", "2", "3"])
        #expect(try store.counts(batch) == [.claimed: 1, .paused: 3])
        #expect(try store.claimAll(batch).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func aCancelledUploadIsRememberedUntilItsServerKnows(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([upload("a"), upload("b"), upload("c")]).batch.id
        let claimed = try store.claimAll(batch)
        try store.note([
            .upload(.sample(), of: claimed[0].id), .upload(.sample(isHeld: false), of: claimed[1].id),
            .sending(claimed[2].id, isUnrepeatable: false, version: .versionOnly),
        ])
        for record in claimed { try store.end(record, .cancelled) }
        #expect(try store.heldUploads(batch: batch).map(\.identity) == ["a"])
        #expect(try store.abandonedUploads(batch: batch, secrets: [:]).map(\.id) == [claimed[0].id, claimed[1].id])
        try store.note([.abandoned(claimed[0].id), .abandoned(claimed[1].id)])
        #expect(try store.abandonedUploads(batch: batch, secrets: [:]).isEmpty)
    }

    // MARK: Staged anew

    @Test(arguments: StoreKind.allCases)
    func completeUnchangedJobsStayAndTheRestBeginsAnew(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let names = ["done", "changed", "failed", "gone", "waiting"]
        let batch = try store.stage(names.map { job($0) }).batch.id
        let claimed = Dictionary(uniqueKeysWithValues: try store.claimAll(batch).map { ($0.identity, $0) })
        for name in ["done", "changed"] { try store.succeed(#require(claimed[name])) }
        try store.fail(#require(claimed["failed"]))
        try store.step(#require(claimed["waiting"]), to: .waiting, due: .now + .seconds(1000), attempts: 4)
        try store.release([#require(claimed["gone"]).id])
        try store.stage([
            job("done"), job("changed", url: "http://h.example/other"), job("failed"), job("waiting"), job("new"),
        ])
        #expect(try store.counts(batch) == [.done: 1, .queued: 3, .waiting: 1])
        #expect(try store.claimAll(batch).map(\.identity).sorted() == ["changed", "failed", "new"])
    }

    @Test(arguments: StoreKind.allCases)
    func aJobWhoseNeedsAreRemovedNoLongerWaits(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a"), job("b", needs: ["a"]), job("c", needs: ["a"])]).batch.id
        try store.stage([job("b")], "b", StagingOptions(keepsWhatIsMissing: true))
        #expect(try store.counts(batch) == [.queued: 2, .blocked: 1])
    }

    @Test(arguments: StoreKind.allCases)
    func aChangedJobUnderWayHasToBeReturnedFirst(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a"), job("b")]).batch.id
        let claimed = try store.claimAll(batch)
        let again = try store.stage([job("a", url: "http://h.example/other"), job("b"), job("c")])
        #expect(again.underWay == [claimed[0].id])
        #expect(try store.counts(batch) == [.claimed: 2], "nothing of it was taken")
        try store.release([claimed[0].id])
        #expect(try store.stage([job("a", url: "http://h.example/other"), job("b"), job("c")]).underWay.isEmpty)
        #expect(try store.counts(batch) == [.queued: 2, .claimed: 1])
    }

    @Test(arguments: StoreKind.allCases)
    func twoJobsOfOneNameAreAFaultAndNothingIsTaken(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        try store.stage([job("a")])
        do {
            try store.stage([job("b"), job("b")])
            Issue.record("taken")
        } catch StagingFailure.faults(let report) {
            #expect(report.faults.count == 1)
        }
        let batch = try #require(try store.hold(.unfinished).first).id
        #expect(try store.claimAll(batch).map(\.identity) == ["a"])
    }

    @Test(arguments: StoreKind.allCases)
    func aJobIsSubmittedOnce(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.submit(job("a"), batch: "b", directory: "/").batch.id
        _ = try store.submit(job("a"), batch: "b", directory: "/")
        _ = try store.submit(job("b"), batch: "b", directory: "/")
        #expect(throws: TransferError.self) {
            _ = try store.submit(job("a", url: "http://h.example/other"), batch: "b", directory: "/")
        }
        #expect(try store.counts(batch) == [.queued: 2])
    }

    @Test(arguments: StoreKind.allCases)
    func anUnheldBatchIsForgotten(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try store.stage([job("a")]).batch.id
        #expect(try store.forget(name: nil, endedBefore: nil).isEmpty, "it is held")
        _ = try store.release(batch: batch, isComplete: false)
        #expect(try store.forget(name: nil, endedBefore: WallClock.milliseconds + 10_000).isEmpty, "there is work left")
        #expect(try store.forget(name: "b", endedBefore: nil) == ["b"])
        #expect(try store.batchRegister().names.isEmpty)
    }

    /// A batch's names may depend on its number: the number of a forgotten batch is not used again.
    @Test(arguments: StoreKind.allCases)
    func noNumberOfABatchIsGivenTwice(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        #expect(try store.batchRegister() == BatchRegister())
        func make(_ name: String) throws {
            let batch = try store.submit(job("a"), batch: name, directory: "/").batch.id
            _ = try store.release(batch: batch, isComplete: false)
        }
        for name in ["x", "y", "x"] { try make(name) }
        let both = try store.batchRegister()
        #expect(both.names == ["x", "y"] && both.entries.map(\.number) == [1, 2] && both.last == 2)
        #expect(try store.forget(name: "y", endedBefore: nil) == ["y"])
        #expect(try store.batchRegister().last == 2, "it is known that there was one")
        try make("y")
        #expect(try store.batchRegister().entries.map(\.number) == [1, 3])
    }

    /// The test is the table of outcomes for a job that is in its batch already.
    @Test func theOutcomeForAnExistingJobFollowsATable() {
        for state in JobState.allCases {
            for (changed, doubt, isReload) in [
                (false, false, false), (true, false, false), (false, true, false), (false, false, true),
                (true, true, true),
            ] {
                let stays = RestagingRule.stays(state, changed: changed, mayHaveArrived: doubt, isReload: isReload)
                let expected =
                    switch state {
                    case .claimed: true
                    case .done, .waiting: !changed
                    case .failed: !changed && (doubt || isReload)
                    case .paused, .skipped, .cancelled: !changed && isReload
                    case .queued, .blocked: false
                    }
                #expect(stays == expected)
            }
        }
    }
}
