import Glibc
import TransferCore
import TransferQueue

@testable import transfer

/// 20 November 2026, 02:00:00 UTC.
let start: Int64 = 1_795_140_000_000

func event(_ kind: QueueEvent.Kind, after seconds: Double = 0, batch: String = "nightly") -> QueueEvent {
    QueueEvent(time: start + Int64(seconds * 1000), batch: batch, kind: kind)
}

func totals(
    jobs: Int, kept: Int = 0, completed: Int = 0, failed: Int = 0, skipped: Int = 0, bytes: Int64 = 0
) -> BatchTotals {
    var totals = BatchTotals()
    totals.jobs = jobs
    totals.kept = kept
    totals.completed = completed
    totals.failed = failed
    totals.skipped = skipped
    totals.bytes = bytes
    return totals
}

func progress(
    _ totals: BatchTotals, active: Int = 0, waiting: Int = 0, rate: Double = 0, eta: Duration? = nil,
    reason: WaitReason? = nil
) -> BatchProgress {
    var progress = BatchProgress()
    progress.totals = totals
    progress.active = active
    progress.waiting = waiting
    progress.rate = Int64(rate)
    progress.eta = eta
    progress.waitReason = reason
    return progress
}

func receipt(_ job: String, isUpload: Bool = false, bytes: Int64 = 4096) -> JobReceipt {
    JobReceipt(
        batch: "nightly", job: job, isUpload: isUpload, bytes: bytes, transferred: bytes, seconds: 2,
        digest: Checksum(.md5, hex: "d41d8cd98f00b204e9800998ecf8427e"), validator: "\"b7\"",
        finalURL: "https://cdn.example/\(job)", path: "/srv/\(job)", status: 200, attempts: 1)
}

func failure(_ job: String, _ error: TransferError, host: String? = "cdn.example", attempts: Int = 1) -> QueueEvent.Kind
{
    .failed(JobFailure(batch: "nightly", job: job, error: error, attempts: attempts, host: host))
}

func status(_ status: Int, _ reason: String, isTransient: Bool = false, retryAfter: Duration? = nil) -> TransferError {
    TransferError(
        .httpStatus, "\(status) \(reason)", cause: .http(status: status), isTransient: isTransient,
        retryAfter: retryAfter)
}

let notFound = status(404, "Not Found")

let mebibyte = 1_048_576.0
let gibibyte = 1024 * mebibyte

extension [StyledLine] {
    var text: String { map(\.text).joined(separator: "\n") }
}

/// A pipe or a file whose contents a test reads.
final class Sink {
    let read: Int32
    let write: Int32
    private var isReadOpen = true

    init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0)
        (read, write) = (ends[0], ends[1])
    }

    deinit {
        closeReader()
        close(write)
    }

    func closeReader() {
        if isReadOpen { close(read) }
        isReadOpen = false
    }

    /// Returns the content so far.
    func contents() -> String {
        var bytes: [UInt8] = []
        var poller = pollfd(fd: read, events: Int16(POLLIN), revents: 0)
        while poll(&poller, 1, 0) > 0 {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = Glibc.read(read, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func terminal(isTerminal: Bool = false, _ environment: [String: String] = ["LANG": "C.UTF-8"]) -> Terminal {
        Terminal(descriptor: write, isTerminal: isTerminal, stream: "8:42", environment: environment)
    }
}
