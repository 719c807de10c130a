import Foundation
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs

/// A file that is sent to a server that misbehaves once or permanently.
struct UploadCell: Sendable {
    let way: MatrixWay
    let moment: MatrixMoment
    let fault: UploadFault

    /// The size of the file: two parts of S3's least size are more than a request of the other protocols.
    var count: Int {
        if way == .s3Parts { return (5 << 20) + 300_000 }
        // The size exceeds what the kernel buffers before the server reads.
        return fault.isEarlyReceipt ? 12 << 20 : 300_000
    }

    func run(_ bench: MatrixBench) async throws -> MatrixOutcome { try await judge(bench).of(nature) }

    private func judge(_ bench: MatrixBench) async throws -> MatrixOutcome {
        let server = try TestServer()
        defer { server.stop() }
        let folder = try TemporaryFolder("cell")
        try folder.write(count: count, seed: 3, to: "f")
        let store = Store(way, server)
        setTrap(server)
        let job = job(server, folder)
        let batch = folder.path
        let began = ContinuousClock.now
        let end = try await bench.end(job, batch: batch)
        let bytes = Array(try folder.data("f"))
        var outcome = MatrixOutcome(text: "")
        let requests = server.requests.count
        // A part that arrives resets the count of attempts: the second may arrive first.
        let rounds = way == .s3Parts ? 2 : 1
        if requests > (MatrixBench.limit + 1) * 4 * rounds + 4 {
            let reported = server.requests.map { "\($0.method) \($0.query ?? "") \($0.status ?? 0)" }
            outcome.faults.append("\(requests) requests: \(reported.joined(separator: ", "))")
        }
        if ContinuousClock.now - began > .seconds(15) {
            outcome.faults.append("it took \(ContinuousClock.now - began)")
        }
        if store.finished.contains(where: { $0 != bytes }) { outcome.faults.append("another file was taken") }
        // A PUT that is done twice has the effect of one (RFC 9110 §9.2.2); the draft's upload is idempotent here.
        if store.finished.count > ([.put, .ietf, .s3, .s3Parts].contains(way) ? 2 : 1) {
            outcome.faults.append("taken \(store.finished.count) times")
        }
        guard let failure = end.failure else {
            outcome.text = "right"
            if let fault = nature.faultOfSuccess { outcome.faults.append(fault) }
            if store.finished.last != bytes { outcome.faults.append("complete, and the server has not the file") }
            return outcome
        }
        let words = failure.error.message
        outcome.text = "fails (\(failure.error.status.map { "\($0)" } ?? "\(failure.error.code)"))"
        if words.count < 8 { outcome.faults.append("it says only \"\(words)\"") }
        if let fault = nature.fault(ofFailure: words) { outcome.faults.append(fault) }
        // The message then asks a person whether the request has arrived.
        guard failure.error.code != .mayHaveBeenSent else { return outcome }
        for name in Self.scripts { server.script(name, for: { _ in false }, []) }
        let next = try await bench.end(job, batch: batch)
        if let failure = next.failure {
            outcome.text += ", then fails (\(failure.error.code))"
            outcome.faults.append("the next run fails: \(failure.error.message)")
            outcome.faults += server.requests.map { "\($0.method) \($0.status ?? 0), \($0.bodyLength) bytes" }
        } else if store.finished.last != bytes {
            outcome.faults.append("the next run is not right")
        } else {
            outcome.text += ", then right"
        }
        return outcome
    }

    private static let scripts = ["1 fault", "2 cut"]

    private func setTrap(_ server: TestServer) {
        let count = Int64(count)
        let after: Int64 =
            switch moment {
            case .first: 0
            case .middle: count / 2
            case .last: count - 1
            case .after: count
            }
        switch fault.what {
        case .body(let make):
            // A part's bytes are counted from its own start, and the second is short.
            let bytes = way == .s3Parts ? min(after, 5 << 20) : after
            let isWhole = moment == .after || way == .s3Parts && moment == .last
            let made = make(bytes, isWhole)
            server.script(
                Self.scripts[0], for: { [way] in Self.bringsBytes($0, way) }, [made],
                afterwards: fault.isForEver ? made : .none)
        case .question(let made):
            server.script(Self.scripts[0], for: { [way] in Self.asks($0, way) }, [made])
            let cut: Fault = moment == .after ? .loseAnswer : .cutUpload(after: min(after, 5 << 20))
            // Parts are tried again within an attempt: the attempt ends with its third.
            let cuts = [Fault](repeating: cut, count: way == .s3Parts ? 3 : 1)
            server.script(Self.scripts[1], for: { [way] in Self.bringsBytes($0, way) }, cuts)
        case .creation(let made): server.script(Self.scripts[0], for: { [way] in Self.creates($0, way) }, [made])
        case .joining(let made):
            server.script(
                Self.scripts[0], for: { $0.method == "POST" && $0.query?.hasPrefix("uploadId") == true }, [made])
        }
    }

    private static func bringsBytes(_ head: RequestHead, _ way: MatrixWay) -> Bool {
        switch way {
        case .tus: head.method == "PATCH"
        case .ietf:
            head.method == "PATCH"
                || head.method == "PUT" && (head.headers["Content-Length"].flatMap { Int($0) } ?? 1) > 0
        case .s3, .s3Parts, .put: head.method == "PUT"
        case .post: head.method == "POST"
        default: false
        }
    }

    private static func asks(_ head: RequestHead, _ way: MatrixWay) -> Bool {
        way == .s3Parts ? head.method == "GET" : head.method == "HEAD"
    }

    private static func creates(_ head: RequestHead, _ way: MatrixWay) -> Bool {
        way == .s3Parts ? head.query == "uploads=" : head.method == "POST"
    }

    private func job(_ server: TestServer, _ folder: TemporaryFolder) -> JobSpec {
        let kind: JobSpec.UploadProtocol
        var url = server.url("/in/f")
        switch way {
        case .post: kind = .post
        case .tus: (kind, url) = (.tus, server.url("/files"))
        case .ietf: kind = .resumable
        case .s3, .s3Parts: (kind, url) = (.s3, "s3://b/f")
        default: kind = .put
        }
        var upload = JobSpec.Upload(source: folder.path("f"), url: url, uploadProtocol: kind)
        if way == .ietf { upload.method = "PUT" }
        if way == .s3Parts {
            upload.options.chunkSize = 5 << 20
            upload.options.parallel = 1
        }
        var settings = MatrixBench.settings(stalls: fault.stalls)
        if kind == .s3 { settings.s3 = .scripted(server) }
        return JobSpec(id: "f", work: .upload(upload), settings: settings)
    }

    /// The files that a server has received, for each protocol.
    private struct Store {
        private let take: @Sendable () -> [[UInt8]]

        init(_ way: MatrixWay, _ server: TestServer) {
            switch way {
            case .tus:
                let service = server.serve("/files*", TusService(endpoint: "/files"))
                take = { service.with { $0.finished.map(\.bytes) } }
            case .ietf:
                var resumable = ResumableService()
                resumable.refusesOtherVersions = true
                let service = server.serve("/*", resumable)
                take = { service.with { $0.finished.map(\.bytes) } }
            case .s3, .s3Parts:
                let service = server.serve("/*", ObjectStore())
                take = { service.with(\.finished) }
            default:
                let service = server.serve("/*", PlainStore())
                take = { service.with(\.finished) }
            }
            server.handle("GET", "/page") { _ in Response(body: .text("<html>Sign in</html>")) }
            server.handle("HEAD", "/page") { _ in Response(body: .text("<html>Sign in</html>")) }
        }

        var finished: [[UInt8]] { take() }
    }
}

extension UploadCell {
    /// Returns the reason why a fault does not apply to a kind of transfer; `nil` where it applies.
    static func leftOut(_ way: MatrixWay, _ fault: UploadFault, _ moment: MatrixMoment) -> String? {
        switch fault.what {
        case .body:
            if fault.isDone, moment != .after { return "nothing is done before the last byte" }
            if fault.isRedirect, way == .tus || way == .ietf || way == .s3Parts || way == .s3 {
                return "where a piece of an upload is led to is no upload of the protocol"
            }
            if fault.isEarlyReceipt {
                if way == .s3Parts { return "one request of it is that of S3" }
                if moment == .after { return "it is the right answer" }
                if moment == .last { return "the last byte has left by then, and no client sees that it was not read" }
            }
            if way == .tus || way == .ietf, moment == .after, [404, 410].contains(fault.status) {
                return "a server that takes a file and says that it is gone gets it twice"
            }
            if fault.isOfAnswer, moment != .after { return "before all was taken it is a cut" }
            if way == .post, fault.stalls, moment == .first {
                return "nothing asks for the body by then, and after a second it is sent all the same"
            }
            return nil
        case .question:
            if way == .tus || way == .ietf, moment == .after, [404, 410].contains(fault.status) {
                return "a server that takes a file and says that it is gone gets it twice"
            }
            if way == .post { return "what was posted cannot be asked for" }
            if way == .s3 { return "one request has no question" }
            return nil
        case .creation:
            guard way == .tus || way == .s3Parts else { return "its creation brings the bytes" }
            return moment == .first ? nil : "there is one creation, before the first byte"
        case .joining:
            guard way == .s3Parts else { return "nothing is joined" }
            return moment == .after ? nil : "parts are joined after the last byte"
        }
    }

    static func cells(_ way: MatrixWay) -> [MatrixCell] {
        UploadFault.all.flatMap { fault in
            MatrixMoment.allCases.map { moment in
                let reason = leftOut(way, fault, moment)
                return MatrixCell(way: way, fault: fault.name, moment: moment, leftOut: reason) { bench in
                    try await UploadCell(way: way, moment: moment, fault: fault).run(bench)
                }
            }
        }
    }
}
