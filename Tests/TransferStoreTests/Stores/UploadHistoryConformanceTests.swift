import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestSupport
import TransferWatch

@testable import TransferJobs
@testable import TransferStore

/// The guarantees of every upload history, in each store of a queue.
@Suite struct UploadHistoryConformanceTests {
    static let kinds = StoreKind.allCases.filter { $0 != .plain }

    /// A watched folder, and a process that works on its jobs.
    private final class Watch {
        typealias Store = JobStore & RunMemory & UploadHistory

        let folder: TemporaryFolder
        let bench: StoreBench
        let store: any Store
        let plan: WatchPlan
        let opened: OpenedHistory

        init(_ kind: StoreKind, _ change: (inout WatchSpec) -> Void = { _ in }) async throws {
            folder = try TemporaryFolder("history")
            bench = try await StoreBench(kind)
            store = try #require(bench.store as? any Store)
            var spec = WatchSpec(folder: try folder.folder("in"), url: "http://h.example/in/{name}")
            change(&spec)
            plan = try WatchPlan(spec)
            opened = try store.openHistory(plan)
        }

        func version(_ path: String, inode: UInt64, modified: Int64 = 10) -> FileVersion {
            FileVersion(device: 1, inode: inode, size: 3, modified: modified, path: path, changed: modified)
        }

        @discardableResult
        func take(_ version: FileVersion, _ finding: HistoryOffer.Finding = .new(digest: nil)) throws -> HistoryChanges
        {
            try store.take([HistoryOffer(version: version, finding: finding)], folder: opened.folder, plan: plan).1
        }

        func look(_ version: FileVersion) throws -> String {
            "\(try store.look([version], folder: opened.folder)[0])".prefix { $0 != "(" }.description
        }

        func claim() throws -> [JobRecord] { try store.claimAll(opened.batch.id) }

        func end(_ job: JobRecord, _ outcome: JobEnd.Outcome? = nil) throws -> RecordedGroup {
            let receipt = Sample.receipt(plan.batch, job.identity)
            let stamp = job.watched?.stamp
            var end = JobEnd(
                id: job.id, batch: job.batch, identity: job.identity, outcome: outcome ?? .done(receipt, stamp),
                sourceChanged: stamp?.changed, sourceFingerprint: 5)
            end.isWatched = true
            return try store.record([end], [])
        }
    }

    @Test(arguments: kinds) func aVersionIsStagedOnceAndKnownAfterwards(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind)
        let a = watch.version("a", inode: 1)
        #expect(try watch.look(a) == "unknown")
        let changes = try watch.take(a)
        #expect((changes.handled, changes.added, changes.open) == (1, 1, 1))
        #expect(changes.ready == [Lane(batch: watch.opened.batch.id, origin: "http://h.example"): 1])
        #expect(try watch.take(a).added == 0)
        #expect(try watch.look(a) == "known")
        #expect(try watch.look(watch.version("a", inode: 1, modified: 11)) == "otherTime")
        #expect(try watch.look(watch.version("b", inode: 1)) == "elsewhere")
        #expect(try watch.look(watch.version("a", inode: 2)) == "renumbered")
        #expect(try watch.look(watch.version("a", inode: 2, modified: 11)) == "replaced")
        let job = try #require(try watch.claim().first)
        #expect(job.identity == "a@1" && job.spec.urls == ["http://h.example/in/a"])
        #expect(job.watched?.stamp == FileStamp(inode: 1, size: 3, modified: 10, changed: 10))
    }

    @Test(arguments: kinds) func aConfirmedVersionIsDueAtItsTime(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind) { $0.then = .delete }
        try watch.take(watch.version("a", inode: 1))
        let group = try watch.end(try #require(try watch.claim().first))
        guard case .confirmed(_, let due?, _)? = group.watched.ends.first?.kind else {
            Issue.record("\(group.watched)")
            return
        }
        #expect(group.watched.open == [watch.opened.batch.id: 0])
        #expect(try watch.store.keptCount(folder: watch.opened.folder) == 1)
        let rows = try watch.store.dueRows(folder: watch.opened.folder, now: due, limit: 9)
        #expect(rows.map(\.version.path) == ["a"])
        #expect(rows.first?.fingerprint == 5 && rows.first?.state == .confirmed)
        #expect(try watch.store.settle(rows.map { HistorySettlement(row: $0.id, kind: .done) }) == 1)
        #expect(try watch.store.keptCount(folder: watch.opened.folder) == 0)
        #expect(try watch.look(watch.version("a", inode: 1)) == "unknown")
    }

    @Test(arguments: kinds) func aNewerVersionWaitsForTheVersionUnderWay(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind)
        try watch.take(watch.version("a", inode: 1))
        let first = try #require(try watch.claim().first)
        #expect(try watch.take(watch.version("a", inode: 2)).ready.isEmpty)
        #expect(try watch.claim().isEmpty)
        // The third version replaces the second, which had not begun.
        let changes = try watch.take(watch.version("a", inode: 3))
        #expect(changes.removed.count == 1 && changes.open == 2)
        let group = try watch.end(first)
        #expect(group.unblocked.values.reduce(0, +) == 1)
        let next = try watch.claim()
        #expect(next.map(\.watched?.stamp.inode) == [3])
    }

    @Test(arguments: kinds) func aFailedVersionIsRetriedOrReplacedByANewerVersion(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind)
        try watch.take(watch.version("a", inode: 1))
        let job = try #require(try watch.claim().first)
        var end = JobEnd(
            id: job.id, batch: job.batch, identity: job.identity,
            outcome: .failed(Sample.busy(403), attempts: 1, host: nil), again: .seconds(60))
        end.isWatched = true
        #expect(try watch.store.record([end], []).watched.ends.map(\.path) == ["a"])
        let none = try watch.store.wakeFailed(batch: job.batch, .due, limit: 9)
        #expect(none.jobs.isEmpty && none.next.map { $0 > .seconds(30) } == true)
        let woken = try watch.store.wakeFailed(batch: job.batch, .probe, limit: 9)
        #expect(woken.jobs == [job.id] && woken.changes.open == 1 && woken.next == nil)
        let again = try #require(try watch.claim().first)
        #expect(again.watched?.failures == 1)
        try watch.take(watch.version("a", inode: 2))
        var second = JobEnd(
            id: again.id, batch: again.batch, identity: again.identity,
            outcome: .failed(Sample.busy(403), attempts: 1, host: nil), again: .seconds(60))
        second.isWatched = true
        _ = try watch.store.record([second], [])
        #expect(try watch.claim().map(\.watched?.stamp.inode) == [2])
        #expect(try watch.store.historyCount(folder: watch.opened.folder) == 1)
    }

    @Test(arguments: kinds) func aRenamedFileIsUploadedByItsNewName(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind)
        try watch.take(watch.version("a", inode: 1))
        let changes = try watch.take(watch.version("m", inode: 1), .moved)
        #expect(changes.removed.count == 1 && changes.open == 1)
        #expect(try watch.claim().map(\.spec.urls) == [["http://h.example/in/m"]])
    }

    @Test(arguments: kinds) func versionsOfALostProcessAreUploadedByAnother(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind)
        try watch.take(watch.version("a", inode: 1))
        try watch.take(watch.version("b", inode: 2))
        _ = try watch.store.claim(
            Lane(batch: watch.opened.batch.id, origin: "http://h.example"), limit: 1, secrets: [:])
        try watch.bench.lose(watch.store)
        let other = try #require(try watch.bench.another() as? any Watch.Store)
        let opened = try other.openHistory(watch.plan)
        #expect(opened.folder == watch.opened.folder && opened.changes.open == 2)
        let jobs = try other.claimAll(opened.batch.id)
        #expect(jobs.map(\.wasInterrupted).sorted { $0 && !$1 } == [true, false])
        #expect(Set(jobs.compactMap(\.watched?.stamp.inode)) == [1, 2])
        #expect(throws: (any Error).self) { try watch.take(watch.version("c", inode: 3)) }
    }

    @Test(arguments: kinds) func droppedVersionsAreForgotten(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind)
        try watch.take(watch.version("a", inode: 1))
        let job = try #require(try watch.claim().first)
        let group = try watch.end(job, .dropped(isChanged: true))
        #expect(group.watched.ends.map(\.path) == ["a"])
        #expect(try watch.look(watch.version("a", inode: 1)) == "unknown")
        #expect(try watch.store.tally(batch: job.batch).watched?.open == 0)
    }

    @Test(arguments: kinds) func otherNamesAreReportedOnceAndOldFilesAreKnown(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind)
        let folder = watch.opened.folder
        #expect(try watch.store.noteOtherNames(["x", "y"], folder: folder) == [true, true])
        #expect(try watch.store.noteOtherNames(["y", "z"], folder: folder) == [false, true])
        #expect(try watch.store.otherNames(folder: folder, after: "x", limit: 9) == ["y", "z"])
        try watch.store.forgetOtherNames(["y"], folder: folder)
        #expect(try watch.store.otherNames(folder: folder, after: "", limit: 9) == ["x", "z"])
        for _ in 0..<2 { try watch.store.note(old: [watch.version("o", inode: 9)], folder: folder) }
        #expect(try watch.store.historyCount(folder: folder) == 1)
    }

    @Test(arguments: kinds) func rowsOfMissingFilesAreRemovedAfterAWhile(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind)
        try watch.take(watch.version("a", inode: 1))
        _ = try watch.end(try #require(try watch.claim().first))
        let folder = watch.opened.folder
        let rows = try watch.store.settledRows(folder: folder, after: 0, limit: 9, onlyGone: false)
        #expect(rows.map(\.version.path) == ["a"])
        #expect(try watch.store.prune(present: [], absent: rows.map(\.id), grace: 60_000).marked == 1)
        #expect(try watch.look(watch.version("a", inode: 1)) == "returned")
        #expect(try watch.store.prune(present: [], absent: rows.map(\.id), grace: 60_000).removed == 0)
        #expect(try watch.store.prune(present: [], absent: rows.map(\.id), grace: 0).removed == 1)
        #expect(try watch.store.historyCount(folder: folder) == 0)
    }

    @Test(arguments: kinds) func uploadedVersionsOutliveTheirBatch(_ kind: StoreKind) async throws {
        let watch = try await Watch(kind)
        try watch.take(watch.version("a", inode: 1))
        _ = try watch.end(try #require(try watch.claim().first))
        _ = try watch.store.release(batch: watch.opened.batch.id, isComplete: true)
        #expect(try watch.store.forget(name: nil, endedBefore: .max).contains(watch.plan.batch))
        #expect(try watch.look(watch.version("a", inode: 1)) == "known")
        let opened = try watch.store.openHistory(watch.plan)
        #expect(opened.folder == watch.opened.folder && opened.batch.id != watch.opened.batch.id)
        _ = try watch.store.release(batch: opened.batch.id, isComplete: true)
        _ = try watch.store.forget(name: watch.plan.batch, endedBefore: nil)
        #expect(try watch.store.openHistory(watch.plan).folder != watch.opened.folder)
    }
}
