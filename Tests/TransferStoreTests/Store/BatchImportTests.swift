import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore
@testable import TransferStoreSQLite

@Suite struct BatchImportTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    func job(_ name: String, url: String = "http://h.example/x", needs: [String] = [], id: String? = nil) -> JobSpec {
        Sample.download(url, to: name, id: id, needs: needs)
    }

    /// Returns the faults of a batch that is refused.
    func faults(_ jobs: [JobSpec], places: Bool = false) throws -> [JobFileFault] {
        do {
            let header = BatchHeader(name: "b", source: nil, directory: "/d")
            _ = try fixture.store.stage(header, StagingOptions()) { stager in
                for (index, spec) in jobs.enumerated() {
                    let span = SourceSpan(line: index + 10, column: 3, length: 2)
                    try stager.add(
                        spec, at: places ? JobLocations(index: index, job: span, to: span, format: .json) : nil)
                }
                return true
            }
            return []
        } catch let failure as StagingFailure {
            guard case .faults(let report) = failure else { throw failure }
            return report.faults
        }
    }

    @Test func takesAllOfABatchOrNothing() throws {
        let header = BatchHeader(name: "b", source: nil, directory: "/")
        #expect(throws: StagingFailure.self) {
            try fixture.store.stage(header, StagingOptions()) { stager in
                try stager.add(job("a"), at: nil)
                return false
            }
        }
        #expect(throws: CancellationError.self) {
            try fixture.store.stage(header, StagingOptions()) { stager in
                try stager.add(job("a"), at: nil)
                throw CancellationError()
            }
        }
        #expect(try fixture.raw.value("SELECT count(*) FROM job") == "0")
        #expect(try fixture.raw.value("SELECT count(*) FROM batch") == "0")
    }

    @Test func aRefusedEditLeavesTheBatchAsItWas() throws {
        try fixture.stage([job("a"), job("b")])
        #expect(try faults([job("a", url: "http://h.example/new"), job("c", needs: ["nope"])]).count == 1)
        #expect(try fixture.states() == ["a": .queued, "b": .queued])
        #expect(try fixture.raw.value("SELECT spec FROM job WHERE identity = 'a'")?.contains("new") == false)
    }

    @Test func anEditedFileAddsChangesKeepsAndDrops() throws {
        let names = ["done", "changed", "failed", "waiting", "gone"]
        let batch = try fixture.stage(names.map { job($0) }).batch
        let records = Dictionary(uniqueKeysWithValues: try fixture.claimAll(batch.id).map { ($0.identity, $0) })
        for name in ["done", "changed", "gone"] { try fixture.succeed(try #require(records[name])) }
        try fixture.fail(try #require(records["failed"]))
        let waiting = try #require(records["waiting"])
        _ = try fixture.store.record(
            [],
            [
                JobStep(
                    id: waiting.id, state: .waiting, attempts: 4, mirror: 0, spentMirrors: 1,
                    askedWait: .seconds(5), due: .seconds(1e9),
                    origin: "http://h.example", batch: batch.id)
            ])
        try fixture.stage(
            [job("done"), job("changed", url: "http://h.example/2"), job("failed"), job("waiting"), job("new")])
        #expect(
            try fixture.states()
                == ["done": .done, "changed": .queued, "failed": .queued, "waiting": .waiting, "new": .queued])
        for record in try fixture.claimAll(batch.id) { #expect(record.attempts == 0 && record.spentMirrors == 0) }
        // A job that waits for its next attempt keeps its time and its count of attempts.
        #expect(try fixture.raw.value("SELECT due FROM job WHERE identity = 'waiting'") == "1000000000000")
        #expect(try fixture.raw.value("SELECT attempts FROM job WHERE identity = 'waiting'") == "4")
        #expect(try fixture.raw.value("SELECT askedWait FROM job WHERE identity = 'waiting'") == "5000")
    }

    /// A resumed run differs from a person who runs the file again.
    @Test func aReloadLeavesUnchangedJobsAsTheyAre() throws {
        let names = ["failed", "cancelled", "paused", "edited", "held"]
        let more = [
            job("skipped", needs: ["failed"]), job("follows", needs: ["edited"]), job("last", needs: ["follows"]),
        ]
        let batch = try fixture.stage(names.map { job($0) } + more).batch
        for record in try fixture.claimAll(batch.id) {
            switch record.identity {
            case "failed", "edited": try fixture.fail(record)
            default: try fixture.store.release([record.id])
            }
        }
        for (verb, name) in [(QueueVerb.cancel, "cancelled"), (.pause, "paused"), (.pause, "held")] {
            _ = try fixture.store.apply(QueueCommand(id: 1, verb: verb, batch: batch.id, job: name))
        }
        let ends = try fixture.store.ends(after: 0, limit: 10).compactMap(\.end?.job)
        #expect(ends == ["failed", "skipped", "edited", "follows", "last", "cancelled"])
        let edited = names.map {
            job($0, url: ["edited", "held"].contains($0) ? "http://h.example/2" : "http://h.example/x")
        }
        try fixture.stage(edited + more + [job("new")], keepsWhatIsMissing: true, isReload: true)
        #expect(
            try fixture.states() == [
                "failed": .failed, "cancelled": .cancelled, "paused": .paused, "skipped": .skipped, "edited": .queued,
                "follows": .blocked, "last": .blocked, "held": .paused, "new": .queued,
            ])
        #expect(try fixture.raw.value("SELECT spec FROM job WHERE identity = 'held'")?.contains("example/2") == true)
        #expect(
            try fixture.store.ends(after: 0, limit: 10).compactMap(\.end?.job) == ["failed", "skipped", "cancelled"])
        // A person who runs the file again wants all of its jobs.
        try fixture.stage(edited + more + [job("new")])
        #expect(Set(try fixture.states().values) == [.queued, .blocked])
    }

    /// The record of a finished job has to describe the work that was done.
    @Test func aJobUnderWayIsNotChanged() throws {
        let batch = try fixture.stage([job("a"), job("b")]).batch
        let records = try fixture.claimAll(batch.id)
        let edited = [job("a", url: "http://h.example/2"), job("b"), job("c")]
        let refused = try fixture.stage(edited, isReload: true)
        #expect(refused.underWay == Set(records.filter { $0.identity == "a" }.map(\.id)))
        #expect(try fixture.states() == ["a": .claimed, "b": .claimed])
        try fixture.succeed(records[0])
        #expect(try fixture.stage(edited, isReload: true).underWay.isEmpty)
        #expect(try fixture.states() == ["a": .queued, "b": .claimed, "c": .queued])
        #expect(try fixture.claimAll(batch.id).first?.spec.urls == ["http://h.example/2"])
    }

    @Test func aRepeatedJobLosesItsEnd() throws {
        let batch = try fixture.stage([job("a"), job("b")]).batch
        for record in try fixture.claimAll(batch.id) {
            if record.identity == "a" { try fixture.fail(record) } else { try fixture.succeed(record) }
        }
        try fixture.stage([job("a"), job("b", url: "http://h.example/2")])
        #expect(try fixture.store.ends(after: 0, limit: 10).isEmpty)
    }

    @Test func stagingAgainKeepsTheReceipts() throws {
        let batch = try fixture.stage([job("a")]).batch
        try fixture.succeed(try #require(try fixture.claimAll(batch.id).first))
        try fixture.stage([job("a")])
        let completed = try fixture.store.completed(batch: batch.id, after: 0, limit: 10)
        #expect(completed.map(\.attempts) == [1])
    }

    @Test func bytesOfAnotherSourceAreNotContinued() throws {
        let batch = try fixture.stage([job("a")]).batch
        let record = try #require(try fixture.claimAll(batch.id).first)
        let resume = ResumeData(
            url: "http://h.example/x", validator: nil, total: 9, bootID: "b", partialFile: "/a.part")
        _ = try fixture.store.record(
            [],
            [
                JobStep(
                    id: record.id, state: .queued, attempts: 1, mirror: 0, spentMirrors: 0, due: nil,
                    origin: "http://h.example", resume: resume, batch: batch.id)
            ])
        try fixture.stage([job("a")])
        let same = try #require(try fixture.claimAll(batch.id).first)
        #expect(same.resume == resume)
        try fixture.store.release([same.id])
        try fixture.stage([job("a", url: "http://h.example/2")])
        #expect(try fixture.claimAll(batch.id).first?.resume == nil)
    }

    @Test func equalIdentitiesAndDestinationsAreNamedWithTheirPlaces() throws {
        let ids = try faults([job("x", id: "one"), job("y", id: "one")], places: true)
        #expect(ids.count == 1 && ids[0].message.contains("same id") && ids[0].span.line == 11)
        #expect(ids[0].message.contains("line 10"))
        let destinations = try faults([job("x"), job("x")], places: true)
        #expect(
            destinations.count == 1 && destinations[0].message.contains("same destination")
                && destinations[0].span.line == 11)
        let mixed = try faults([job("x", id: "one"), job("x", id: "two")], places: true)
        #expect(mixed.count == 1 && mixed[0].message.contains("job \"one\"") && mixed[0].span.line == 11)
        let spelled = try faults([job("x"), job("/d/x")], places: true)
        #expect(spelled.count == 1 && spelled[0].message.contains("same destination as job \"x\""))
        let above = try faults([job("../x"), job("/x")], places: true)
        #expect(above.count == 1 && above[0].span.line == 11)
        #expect(try fixture.raw.value("SELECT count(*) FROM batch") == "0")
        #expect(try faults([job("x"), job("/x")], places: true).isEmpty)
    }

    @Test func oneURLHasOneFileInAFolder() throws {
        let same = try faults([job("in/", id: "one"), job("/d/in/", id: "two")], places: true)
        #expect(same.count == 1 && same[0].message.contains("same destination as job \"one\""))
        let other = [job("in/", id: "one"), job("in/", url: "http://h.example/2", id: "two")]
        #expect(try faults(other, places: true).isEmpty)
    }

    @Test func anObjectOfTwoEndpointsIsTwo() throws {
        func upload(_ id: String, to endpoint: String) -> JobSpec {
            var job = Sample.upload("/f", to: "s3://bucket/f", id: id, protocol: .s3)
            job.settings.s3 = JobSettings.S3Access()
            job.settings.s3?.endpoint = endpoint
            return job
        }
        let same = try faults(
            [upload("a", to: "http://one.example"), upload("b", to: "http://one.example")], places: true)
        #expect(same.count == 1 && same[0].message.contains("same destination as job \"a\""))
        let others = [upload("a", to: "http://one.example"), upload("b", to: "http://two.example")]
        #expect(try faults(others, places: true).isEmpty)
    }

    @Test func unknownNeedsAndCirclesAreNamedWithTheirPlaces() throws {
        let unknown = try faults([job("a", needs: ["nope"])], places: true)
        #expect(unknown.map(\.message) == ["job \"a\" needs \"nope\", which is not in this batch"])
        #expect(unknown.first?.span.line == 10)
        let circle = try faults([job("a", needs: ["c"]), job("b", needs: ["a"]), job("c", needs: ["b"])], places: true)
        #expect(circle.count == 1 && circle[0].message.contains("circle: a → c → b → a"))
        #expect(try faults([job("a", needs: ["a"])]).first?.message.contains("a → a") == true)
    }

    @Test func aJobIsBlockedUntilAllItNeedsIsDone() throws {
        let batch = try fixture.stage([job("a"), job("b"), job("c", needs: ["a", "b", "a"])]).batch
        #expect(try fixture.states()["c"] == .blocked)
        let records = try fixture.claimAll(batch.id)
        #expect(try fixture.succeed(records[0]).unblocked.isEmpty)
        #expect(try fixture.succeed(records[1]).unblocked == [Lane(batch: batch.id, origin: "http://h.example"): 1])
        #expect(try fixture.states()["c"] == .queued)
    }

    @Test func aRepeatedNeedIsWaitedForAgain() throws {
        let jobs = [job("a"), job("b", needs: ["a"])]
        let batch = try fixture.stage(jobs).batch
        try fixture.succeed(try #require(try fixture.claimAll(batch.id).first))
        try fixture.stage(jobs)
        #expect(try fixture.states() == ["a": .done, "b": .queued])
        // The file of "a" is gone, as the run's first check finds.
        let id = try #require(try fixture.store.completed(batch: batch.id, after: 0, limit: 1).first?.id)
        _ = try fixture.store.redo([id], .no)
        #expect(try fixture.claimAll(batch.id).map(\.identity) == ["a"])
    }

    @Test func aFailedNeedSkipsAllItsDependents() throws {
        let batch = try fixture.stage([
            job("a"), job("b", needs: ["a"]), job("c", needs: ["b"]), job("d", needs: ["c", "e"]), job("e"),
        ]).batch
        let record = try #require(try fixture.claimAll(batch.id).first { $0.identity == "a" })
        let recorded = try fixture.fail(record)
        #expect(recorded.skipped.map(\.identity) == ["b", "c", "d"])
        #expect(recorded.skipped.map(\.need) == ["a", "b", "c"])
        let cursors = recorded.cursors + recorded.skipped.map(\.cursor)
        #expect(cursors == Array(1...4))
        #expect(try fixture.states() == ["a": .failed, "b": .skipped, "c": .skipped, "d": .skipped, "e": .claimed])
    }

    @Test func aJobThatNeedsAFailedJobIsNotBlockedForEver() throws {
        let batch = try fixture.stage([job("a")]).batch
        try fixture.fail(try #require(try fixture.claimAll(batch.id).first))
        // The store may refuse the job, skip it, or try its need again: each of them leads to an end.
        do {
            _ = try fixture.store.submit(job("b", needs: ["a"]), batch: "b", directory: "/")
        } catch is StagingFailure { return }
        let states = try fixture.states()
        #expect(states["b"] != .blocked || states["a"]?.hasEnded == false)
    }
}
