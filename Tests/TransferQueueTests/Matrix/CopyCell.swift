import Foundation
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs

/// A copy whose source misbehaves once or permanently. The faults of its destination are those of uploads.
struct CopyCell: Sendable {
    let way: MatrixWay
    let moment: MatrixMoment
    let fault: DownloadFault

    private static let count = DownloadCell.count
    private static let file = ServedFile(.random(seed: 2, count: count), etag: "\"now\"", lastModified: 1_600_000_000)

    /// The number of bytes that the source has delivered when the fault occurs.
    private var given: Int64 {
        switch moment {
        case .first: 0
        case .middle: Self.count / 2
        case .last: Self.count - 1
        case .after: Self.count
        }
    }

    func run(_ bench: MatrixBench) async throws -> MatrixOutcome {
        let server = try TestServer()
        defer { server.stop() }
        server.serve("/f", Self.file)
        server.serve("/moved", Self.file)
        server.serve("/login", .text("<html><form>Sign in</form></html>"))
        let (url, taken) = store(server)
        setTrap(server)
        let batch = "\(way.rawValue) \(fault.name) \(moment.rawValue) \(server.port)"
        let began = ContinuousClock.now
        let end = try await bench.end(job(server, url), batch: batch)
        var outcome = MatrixOutcome(text: "")
        if ContinuousClock.now - began > .seconds(15) {
            outcome.faults.append("it took \(ContinuousClock.now - began)")
        }
        let right = fault.isNewVersion ? nil : Self.file.content.bytes()
        if let right, taken().contains(where: { $0 != right }) { outcome.faults.append("another file was taken") }
        guard let failure = end.failure else {
            outcome.text = "right"
            if taken().isEmpty { outcome.faults.append("complete, and the destination has not the file") }
            return outcome.of(nature)
        }
        let words = failure.error.message
        if words.count < 8 { outcome.faults.append("it says only \"\(words)\"") }
        if !taken().isEmpty { outcome.faults.append("failed, and the destination has a whole file") }
        server.script("/f", [])
        if let failure = try await bench.end(job(server, url), batch: batch).failure {
            outcome.faults.append("the next run fails: \(failure.error.message)")
        } else if let right, taken().last != right {
            outcome.faults.append("the next run is not right")
        }
        outcome.text = "fails (\(failure.error.status.map { "\($0)" } ?? "\(failure.error.code)")), then right"
        return outcome.of(nature)
    }

    /// A source whose refusal comes before any byte was forwarded is asked anew from its start.
    private var nature: MatrixNature {
        if case .answer = fault.what, moment != .first { .either } else { .passing }
    }

    /// Returns the destination, and the files that it has received whole.
    private func store(_ server: TestServer) -> (url: String, taken: @Sendable () -> [[UInt8]]) {
        guard way == .copyToTus else {
            let service = server.serve("/in/*", PlainStore())
            return (server.url("/in/f"), { service.with(\.finished) })
        }
        let service = server.serve("/files*", TusService(endpoint: "/files"))
        return (server.url("/files"), { service.with { $0.finished.map(\.bytes) } })
    }

    private func setTrap(_ server: TestServer) {
        switch fault.what {
        case .body(let make): server.script("/f", [make(given)])
        case .answer(let make):
            let question = DownloadFault.Question(
                from: min(given, Self.count - 1), file: Self.file.content, etag: "\"now\"")
            let made = make(question)
            let before: [Fault] = moment == .first ? [] : [.cut(after: min(given, Self.count - 1))]
            server.script("/f", before + [made], afterwards: fault.isForEver ? made : .none)
        }
    }

    private func job(_ server: TestServer, _ url: String) -> JobSpec {
        let settings = MatrixBench.settings(stalls: fault.stalls)
        let source = CopySource(
            JobSpec.Download(urls: [server.url("/f")], destination: ""), settings: settings)
        return JobSpec(
            id: "f",
            work: .upload(JobSpec.Upload(from: source, url: url, uploadProtocol: way == .copyToTus ? .tus : .put)),
            settings: settings)
    }

    static func cells(_ way: MatrixWay) -> [MatrixCell] {
        DownloadFault.all.flatMap { fault in
            MatrixMoment.allCases.map { moment in
                MatrixCell(way: way, fault: fault.name, moment: moment, leftOut: leftOut(fault, moment)) { bench in
                    try await CopyCell(way: way, moment: moment, fault: fault).run(bench)
                }
            }
        }
    }

    private static func leftOut(_ fault: DownloadFault, _ moment: MatrixMoment) -> String? {
        if case .leftOut(let why) = fault.meaning(.plain, moment) { return why }
        if case .answer = fault.what, moment == .after { return "nothing more is asked of a source that has given all" }
        return nil
    }
}
