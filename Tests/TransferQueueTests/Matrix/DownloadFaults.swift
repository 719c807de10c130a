import TransferTestServer

/// The fault of a server in its answer to the request for a file.
struct DownloadFault: Sendable {
    /// The request, to the extent that a scripted answer has to fit it.
    struct Question: Sendable {
        /// The first requested byte.
        var from: Int64
        var file: Content
        var etag: String

        /// Returns the bytes of a right answer with a changed head: `change` edits the field lines.
        func raw(_ change: (inout [String]) -> Void, body: ([UInt8]) -> [UInt8] = { $0 }) -> Fault {
            var lines = ["ETag: \(etag)", "Content-Length: \(file.count - from)"]
            var status = "200 OK"
            if from > 0 {
                status = "206 Partial Content"
                lines.append("Content-Range: bytes \(from)-\(file.count - 1)/\(file.count)")
            }
            change(&lines)
            let head = "HTTP/1.1 \(status)\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\n"
            return .garbage(Array(head.utf8) + body(file.bytes(in: from..<file.count)))
        }
    }

    enum What: Sendable {
        /// A fault in place of the answer to one request.
        case answer(@Sendable (Question) -> Fault)
        /// A fault of the body, once this number of bytes was sent.
        case body(@Sendable (Int64) -> Fault)
    }

    var name: String
    var nature: MatrixNature
    var what: What
    /// Whether the fault hits each request from then on, and not only one.
    var isForEver = false
    /// Whether the server has a different file from then on.
    var isNewVersion = false
    var stalls = false
    /// Whether the fault is bounded by time and not by attempts: a server that asks for waits is asked while they fit.
    var asksToWait = false
    /// The cells in which the fault has a different meaning, with that meaning.
    var exceptions: [Exception] = []

    struct Exception: Sendable {
        var ways: Set<MatrixWay> = [.plain, .conditional, .resumed]
        var moments: Set<MatrixMoment> = Set(MatrixMoment.allCases)
        var means: Meaning
    }

    enum Meaning: Sendable, Hashable {
        case nature(MatrixNature)
        /// The cell is left out, for the given reason.
        case leftOut(String)
    }

    func meaning(_ way: MatrixWay, _ moment: MatrixMoment) -> Meaning {
        exceptions.first { $0.ways.contains(way) && $0.moments.contains(moment) }?.means ?? .nature(nature)
    }

    func except(
        _ ways: Set<MatrixWay> = [.plain, .conditional, .resumed],
        _ moments: Set<MatrixMoment> = Set(MatrixMoment.allCases), _ means: Meaning
    ) -> DownloadFault {
        var fault = self
        fault.exceptions.append(Exception(ways: ways, moments: moments, means: means))
        return fault
    }

    /// Returns the same fault for each request from then on.
    func forEver(_ nature: MatrixNature) -> DownloadFault {
        var fault = self
        (fault.name, fault.nature, fault.isForEver) = (name + ", for ever", nature, true)
        return fault
    }
}

extension DownloadFault {
    static func answer(
        _ name: String, _ nature: MatrixNature = .passing, _ fault: @escaping @Sendable (Question) -> Fault
    ) -> DownloadFault {
        DownloadFault(name: name, nature: nature, what: .answer(fault))
    }

    static func sends(_ name: String, _ fault: Fault, _ nature: MatrixNature = .passing) -> DownloadFault {
        DownloadFault(name: name, nature: nature, what: .answer { _ in fault })
    }

    static func body(
        _ name: String, _ nature: MatrixNature = .passing, _ fault: @escaping @Sendable (Int64) -> Fault
    ) -> DownloadFault {
        DownloadFault(name: name, nature: nature, what: .body(fault))
    }

    static let all: [DownloadFault] = [statuses, waits, redirects, versions, ranges, lengths, heads, connections]
        .flatMap { $0 }
}
