import Testing
import TransferCore
import TransferEngine
import TransferQueueFixtures
import TransferUpload

@testable import TransferJobs
@testable import TransferQueue
@testable import TransferScheduling

/// The queue's decision about an upload whose answer is lost, and about a download's other mirrors.
@Suite struct UploadJudgementTests {
    private let lost = TransferError(.connectionLost, "lost", isTransient: true)

    @Test func onlyAWholeBodyOfAPutIsQueriedEvenAnEmptyOne() {
        let put = Sample.upload("/f", to: "http://h.example/in")
        #expect(UploadJudgement.asksAfterLoss(put, lost, sent: 9, of: 9))
        #expect(!UploadJudgement.asksAfterLoss(put, lost, sent: 8, of: 9))
        #expect(UploadJudgement.asksAfterLoss(put, lost, sent: 0, of: 0))
        #expect(UploadJudgement.asksAfterLoss(put, TransferError(.answeredEarly, "early"), sent: 3, of: 9))
        #expect(UploadJudgement.asksAfterLoss(put, Sample.busy(), sent: 9, of: 9), "a gateway may have answered")
        let post = Sample.upload("/f", to: "http://h.example/in", protocol: .post)
        #expect(!UploadJudgement.asksAfterLoss(post, lost, sent: 9, of: 9))
        #expect(!UploadJudgement.asksAfterLoss(Sample.download("http://h.example/0", to: "/f"), lost, sent: 9, of: 9))
    }

    @Test func aPostThatIsNotRepeatedIsNamed() {
        func record(_ spec: JobSpec) -> JobRecord {
            JobRecord(id: 1, batch: 1, identity: "a", spec: .init(wrappedValue: spec), claimed: 0)
        }
        #expect(record(Sample.upload("/f", to: "http://h.example/in", protocol: .post)).unrepeatable == "POST")
        #expect(record(Sample.upload("/f", to: "http://h.example/in")).unrepeatable == nil)
    }

    @Test func unspentMirrorsHaveTheirTurnInOrder() {
        var spec = Sample.download("http://a.example/", to: "/f")
        if case .download(var download) = spec.work {
            download.urls = ["a", "b", "c", "d"].map { "http://\($0).example/" }
            spec.work = .download(download)
        }
        var record = JobRecord(id: 1, batch: 1, identity: "x", spec: .init(wrappedValue: spec), claimed: 0)
        (record.mirror, record.spentMirrors) = (2, 1 << 3)
        let candidate = Scheduler.Candidate(
            id: 1, lane: Lane(batch: 1, origin: spec.origin(mirror: 2), network: "n"), priority: 0)
        let turns = MirrorRotation(
            of: candidate, record, RequestBuilder(userAgent: "t", proxies: .none, secrets: SecretSource()))
        #expect(turns.turns.map(\.mirror) == [0, 1])
        #expect(turns.machines.map(\.host) == ["a.example", "b.example"])
        var gate = NetworkGate()
        gate.offline = ["n"]
        #expect(turns.firstOpen(gate) == nil)
        gate.direct = [HostUnderRules(host: "b.example", network: "n")]
        #expect(turns.firstOpen(gate)?.mirror == 1)
    }
}
