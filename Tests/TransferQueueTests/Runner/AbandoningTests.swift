import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport
import TransferUpload

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore
@testable import TransferStoreSQLite

/// Uploads that were cancelled while no process ran them, and the records of their servers.
@Suite(.timeLimit(.minutes(1))) struct AbandoningTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("abandon") }

    /// Stores a cancelled upload by tus with this state.
    private func cancelled(_ url: String, state: String) throws {
        let store = try SQLiteStore(StateFolder(folder.path("state")))
        let header = BatchHeader(name: "b", source: nil, directory: "/")
        let job = Sample.upload(folder.path("f"), to: url, id: "f", protocol: .tus)
        let batch = try store.stage(header, StagingOptions()) { stager in
            try stager.add(job, at: nil)
            return true
        }.batch.id
        let lane = try #require(try store.backlog(batch: batch).ready.keys.first)
        _ = try store.claim(lane, limit: 1, secrets: [1: JobSecrets(job)].compactMapValues { $0 })
        let record = UploadRecord(
            FileStamp(size: 9, modified: 1), state: UploadState(earlier: state), confirmed: 4)
        try store.note([.upload(record, of: 1)])
        _ = try store.record([JobEnd(id: 1, batch: batch, identity: "f", outcome: .cancelled)], [])
        _ = try store.release(batch: batch, isComplete: false)
    }

    private func abandon() async throws -> [UnreportedAbort] {
        try await withQueue(folder) { queue in try await queue.abandonCancelled(in: ["b"], within: .seconds(10)) }
    }

    private func isHeld() throws -> Bool {
        try QueueRemote(state: folder.path("state"), runtimeFolder: nil).hasAbandonedUploads(batch: "b")
    }

    @Test(.ofAFolder) func aSecretOfTheURLIsOnlyInItsJobFile() async throws {
        try cancelled("http://127.0.0.1:1/in?X-Amz-Signature=abc", state: "{}")
        let unreported = try await abandon()
        #expect(unreported.map(\.job) == ["f"] && unreported.first?.batch == "b")
        #expect(unreported.first?.needsItsJobFile == true && unreported.first?.reason.code == .secretMissing)
        #expect(try isHeld())
    }

    /// A record that only serves to ask whether a request arrived is no resource on a server.
    @Test(arguments: ["put:1795262400", "verify:{}"]) func aQueryRecordIsNoResourceOnAServer(_ state: String)
        async throws
    {
        try cancelled("http://127.0.0.1:1/in?X-Amz-Signature=abc", state: state)
        #expect(try !isHeld())
        #expect(try await abandon().isEmpty)
    }

    /// The rows of versions before ``UploadState`` hold plain texts in place of an envelope.
    @Test(arguments: [
        (#"put:1795262400"#, false), (#"verify:{}"#, false), ("accepted:1795262400:1", true), ("s3/1 size=9", true),
    ])
    func aRowOfAnEarlierVersionIsRead(_ state: String, _ holds: Bool) throws {
        try cancelled("http://127.0.0.1:1/in", state: state)
        try RawDatabase(path: folder.path("state/queue.sqlite")).run(
            #"UPDATE job SET upload = '{"size":9,"modified":1,"state":"\#(state)","confirmed":4}'"#)
        #expect(try isHeld() == holds)
    }
}
