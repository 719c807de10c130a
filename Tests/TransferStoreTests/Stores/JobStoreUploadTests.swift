import Testing
import TransferCore
import TransferEngine
import TransferEventLoop
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs
@testable import TransferStore

/// The upload records that attempts leave, for each kind of storage.
@Suite struct JobStoreUploadTests {
    /// A way in which a claimed job leaves its process.
    enum Exit: Sendable {
        case step
        case fail(TransferError)
        case cancel

        static let failure = Exit.fail(TransferError(.mayHaveBeenSent, "it may have arrived"))
        static let change = Exit.fail(TransferError(.sourceChanged, "the file changed"))
    }

    struct Row: Sendable {
        let exit: Exit
        /// The record that the attempt stored on its way.
        let stored: UploadRecord?
        let change: UploadChange
        /// The record of the next attempt, or that of the cancelled upload.
        let left: UploadRecord?
    }

    /// The record after an attempt that went further.
    private static var further: UploadRecord {
        var record = UploadRecord.sample()
        record.confirmed = 5
        return record
    }

    static let rows: [Row] = [
        Row(exit: .step, stored: nil, change: .none, left: nil),
        Row(exit: .step, stored: .sample(), change: .none, left: .sample()),
        Row(exit: .step, stored: nil, change: .replaced(.sample()), left: .sample()),
        Row(exit: .step, stored: .sample(), change: .replaced(further), left: further),
        Row(exit: .step, stored: .sample(), change: .removed, left: nil),
        Row(exit: .step, stored: .sample(), change: .replaced(.versionOnly), left: .versionOnly),
        Row(exit: .failure, stored: .sample(), change: .none, left: .sample()),
        Row(exit: .failure, stored: nil, change: .replaced(.sample()), left: .sample()),
        Row(exit: .failure, stored: .sample(), change: .removed, left: nil),
        // The next attempt after a failure may send another version.
        Row(exit: .failure, stored: .sample(), change: .replaced(.versionOnly), left: nil),
        Row(exit: .change, stored: .versionOnly, change: .none, left: .versionOnly),
        Row(exit: .change, stored: .sample(), change: .replaced(.versionOnly), left: .versionOnly),
        Row(exit: .change, stored: .sample(), change: .removed, left: nil),
        Row(exit: .cancel, stored: .sample(), change: .none, left: .sample()),
        Row(exit: .cancel, stored: nil, change: .replaced(further), left: further),
        Row(exit: .cancel, stored: .sample(), change: .removed, left: nil),
        Row(exit: .cancel, stored: .sample(), change: .replaced(.versionOnly), left: nil),
    ]

    private func stage(_ store: any JobStore) throws -> Int64 {
        try store.stage([Sample.upload("a", to: "http://h.example/a", id: "a", protocol: .tus)]).batch.id
    }

    private func record(_ exit: Exit, _ change: UploadChange, of job: JobRecord, in store: any JobStore) throws {
        switch exit {
        case .step:
            var step = JobStep(
                id: job.id, state: .queued, attempts: 1, mirror: 0, spentMirrors: 0, origin: "http://h.example",
                batch: job.batch, identity: job.identity)
            step.upload = change
            _ = try store.record([], [step])
        case .fail(let error): try record(.failed(error, attempts: 1, host: nil), change, of: job, in: store)
        case .cancel: try record(.cancelled, change, of: job, in: store)
        }
    }

    private func record(
        _ outcome: JobEnd.Outcome, _ change: UploadChange, of job: JobRecord, in store: any JobStore
    ) throws {
        var end = JobEnd(id: job.id, batch: job.batch, identity: job.identity, outcome: outcome)
        end.upload = change
        _ = try store.record([end], [])
    }

    @Test(arguments: StoreKind.allCases, rows)
    func anEndOrAStepLeavesItsUploadRecord(_ kind: StoreKind, _ row: Row) async throws {
        let store = try await StoreBench(kind).store
        let batch = try stage(store)
        let job = try store.claimAll(batch)[0]
        if let stored = row.stored { try store.note([.upload(stored, of: job.id)]) }
        try record(row.exit, row.change, of: job, in: store)
        if case .cancel = row.exit {
            #expect(
                try store.abandonedUploads(batch: batch, secrets: [:]).map(\.upload) == [row.left].compactMap { $0 })
            return
        }
        if case .fail = row.exit {
            _ = try store.apply(QueueCommand(id: 1, verb: .retry, batch: batch, job: "a"))
        }
        #expect(try store.claimAll(batch).map(\.upload) == [row.left])
    }

    /// A failure that was to report an unknown outcome gets lost with the state that says so. The next process learns
    /// from the earlier state that it has to ask the server, or to report the outcome itself.
    @Test(arguments: StoreKind.allCases, [Exit.step, .failure, .change, .cancel])
    func anEndThatIsNotRecordedLeavesTheEarlierUploadRecord(_ kind: StoreKind, _ exit: Exit) async throws {
        let bench = try await StoreBench(kind)
        let other = try bench.another()
        let batch = try stage(other)
        let job = try other.claimAll(batch)[0]
        try other.note([.upload(.sample(), of: job.id)])
        try bench.lose(other)
        #expect(try bench.store.hold(.unfinished).count == 1)
        #expect(throws: LeaseLost.self) { try record(exit, .removed, of: job, in: other) }
        let again = try bench.store.claimAll(batch)
        #expect(again.map(\.upload) == [.sample()] && again.map(\.wasInterrupted) == [true])
        #expect(try bench.store.ends(after: 0, limit: 9).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func aCompleteJobHasNoUploadRecord(_ kind: StoreKind) async throws {
        let store = try await StoreBench(kind).store
        let batch = try stage(store)
        let job = try store.claimAll(batch)[0]
        try store.note([.upload(.sample(), of: job.id)])
        try record(.done(Sample.receipt("b", "a"), nil), .replaced(Self.further), of: job, in: store)
        try store.redo([job.id], .ask)
        #expect(try store.claimAll(batch).map(\.upload) == [nil])
    }
}
