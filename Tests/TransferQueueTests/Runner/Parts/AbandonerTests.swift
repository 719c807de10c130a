import Synchronization
import Testing
import TransferCore
import TransferQueueFixtures
import TransferUpload

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferStore

/// The deletion of unfinished uploads at their servers.
@Suite struct AbandonerTests {
    /// A deletion of one request, with its result.
    private struct Deletion: UploadDialogue {
        mutating func begin(now: Int64) -> [UploadAction] { [] }

        mutating func abandon(now: Int64) -> [UploadAction] {
            [.send(UploadRequest(id: 1, method: "DELETE", url: "http://h.example/1"))]
        }

        mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
            switch event {
            case .failed(_, let error, _): [.fail(error)]
            default: [.finish(UploadResult(url: "http://h.example/1", status: 204))]
            }
        }
    }

    private let upload = AbandonedUpload(
        id: 7, spec: Sample.upload("/f", to: "http://h.example/in"),
        upload: UploadRecord(
            FileStamp(size: 3, modified: 0), state: UploadState(kind: "toy", canAsk: true, payload: "1"), confirmed: 0))

    private func failed(_ error: TransferError) -> UploadEvent { .failed(request: 1, error, sent: 0) }

    private func name(_ actions: [UploadAborts.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .send: "send"
            case .wait: "wait"
            case .forget(let job): "forget \(job)"
            }
        }
    }

    @Test func anUploadDeletedByTheServerIsForgotten() {
        var abandoner = UploadAborts()
        let value1 = name(abandoner.begin(upload, Deletion(), now: 0))
        #expect(value1 == ["send"])
        #expect(abandoner.isUnderWay(7) && !abandoner.isEmpty)
        let gone = TransferError(.httpStatus, "404", cause: .http(status: 404))
        let value2 = name(abandoner.handle(failed(gone), of: 1, now: 0))
        #expect(value2 == ["forget 7"])
        #expect(abandoner.isEmpty && abandoner.failures.isEmpty)
    }

    @Test func aPassingFailureIsTriedAgainButNotForEver() {
        var abandoner = UploadAborts()
        let busy = Sample.busy()
        var actions = name(abandoner.begin(upload, Deletion(), now: 0))
        var (number, requests) = (1, 0)
        while actions == ["send"] {
            requests += 1
            actions = name(abandoner.handle(failed(busy), of: number, now: 0))
            guard actions == ["wait"] else { break }
            #expect(abandoner.isUnderWay(7), "somebody who waits for its end goes on waiting")
            actions = name(abandoner.again(number, now: 0) { _ in Deletion() })
            number += 1
        }
        #expect(requests == 11)
        #expect(abandoner.isEmpty && abandoner.failures[7]?.status == 503)
    }

    /// The same upload may be taken again while its credentials are being asked for.
    @Test func anUploadWhoseCredentialsAreAskedForIsUnderWay() {
        var abandoner = UploadAborts()
        abandoner.beginAsking(7)
        abandoner.beginAsking(7)
        #expect(abandoner.isUnderWay(7) && !abandoner.isUnderWay(8) && !abandoner.isEmpty)
        abandoner.endAsking(7)
        #expect(abandoner.isUnderWay(7), "another upload of the job waits too")
        abandoner.endAsking(7)
        #expect(!abandoner.isUnderWay(7) && abandoner.isEmpty)
        _ = abandoner.begin(upload, Deletion(), now: 0)
        abandoner.endAsking(7)
        #expect(abandoner.isUnderWay(7), "the server is being notified")
    }

    @Test func aRefusedDeletionIsRemembered() {
        var abandoner = UploadAborts()
        _ = abandoner.begin(upload, Deletion(), now: 0)
        let refusal = TransferError(.httpStatus, "403", cause: .http(status: 403))
        let value3 = abandoner.handle(failed(refusal), of: 1, now: 0).isEmpty
        #expect(value3)
        #expect(abandoner.isEmpty && abandoner.failures[7]?.status == 403)
    }
}
