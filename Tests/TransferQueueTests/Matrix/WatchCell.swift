import Foundation
import TransferCore
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferQueue

/// A file of a watched folder, sent with PUT to a server that misbehaves: no failure ends its retries.
struct WatchCell: Sendable {
    let moment: MatrixMoment
    let fault: UploadFault

    private var count: Int { fault.isEarlyReceipt ? 12 << 20 : 300_000 }

    func run(_ bench: MatrixBench) async throws -> MatrixOutcome {
        let server = try TestServer()
        defer { server.stop() }
        let folder = try TemporaryFolder("cell")
        var spec = WatchSpec(folder: try folder.folder("in"), url: server.url("/in/{name}"))
        spec.settle = .milliseconds(5)
        spec.settings = MatrixBench.settings(stalls: fault.stalls)
        let service = server.serve("/*", PlainStore())
        setTrap(server)
        try folder.write(count: count, seed: 3, to: "f")
        try folder.rename("f", "in/f")
        let bytes = Array(try folder.data("in/f"))
        var times = WatchTimes()
        times.again.first = .milliseconds(50)
        times.again.most = .milliseconds(400)
        let log = WatchLog()
        let watched = try await WatchedFolder.start(spec, on: bench.queue, times: times) { log.add($0) }
        var outcome = MatrixOutcome(text: "right")
        // The received file is there, and the client queries it.
        if fault.isForEver, moment != .after || fault.status != nil {
            try await within(MatrixBench.mostTime) {
                while server.requests.count < (MatrixBench.limit + 1) * 2 {
                    try await server.waitForRequests(server.requests.count + 1)
                }
            }
            if !log.confirmed.isEmpty { outcome.faults.append("confirmed, and the server refused it") }
            server.script("fault", for: { _ in false }, [])
            outcome.text = "is tried again for ever, then right"
        }
        do {
            try await within(MatrixBench.mostTime) { await log.wait(forConfirmed: "f") }
        } catch {
            outcome.text = "never arrives"
            outcome.faults.append("\(log.events)")
        }
        await watched.stop()
        let finished = service.with(\.finished)
        if finished.last != bytes { outcome.faults.append("the server has not the file") }
        if finished.contains(where: { $0 != bytes }) { outcome.faults.append("another file was taken") }
        if finished.count > 2 { outcome.faults.append("taken \(finished.count) times") }
        if server.requests.count > 40 { outcome.faults.append("\(server.requests.count) requests") }
        return outcome
    }

    private func setTrap(_ server: TestServer) {
        guard case .body(let make) = fault.what else { return }
        let after: Int64 =
            switch moment {
            case .first: 0
            case .middle: Int64(count / 2)
            case .last: Int64(count - 1)
            case .after: Int64(count)
            }
        let made = make(after, moment == .after)
        server.script("fault", for: { $0.method == "PUT" }, [made], afterwards: fault.isForEver ? made : .none)
    }

    static func cells() -> [MatrixCell] {
        UploadFault.all.flatMap { fault in
            MatrixMoment.allCases.compactMap { moment -> MatrixCell? in
                guard case .body = fault.what else { return nil }
                let reason = UploadCell.leftOut(.watch, fault, moment)
                return MatrixCell(way: .watch, fault: fault.name, moment: moment, leftOut: reason) { bench in
                    try await WatchCell(moment: moment, fault: fault).run(bench)
                }
            }
        }
    }
}
