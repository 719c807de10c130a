import TransferTestServer

/// What a server does to the request for a file, instead of answering it as it should.
struct DownloadFault: Sendable {
    /// What was asked for, as far as a scripted answer has to fit it.
    struct Question: Sendable {
        /// The first byte that is wanted.
        var from: Int64
        var file: Content
        var etag: String

        /// A right answer's bytes, but for its head: `change` makes the field lines what they are to be.
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
        /// In place of the answer to one request.
        case answer(@Sendable (Question) -> Fault)
        /// To the body, once so many bytes of it were sent.
        case body(@Sendable (Int64) -> Fault)
    }

    var name: String
    var nature: MatrixNature
    var what: What
    /// Each request from then on, and not one alone.
    var isForEver = false
    /// From then on the server has another file.
    var isNewVersion = false
    var stalls = false
    /// Bounded by time and not by attempts: a server that asks for waits is asked as often as these fit.
    var asksToWait = false
    /// Cells in which it means something else, with what that is.
    var exceptions: [Exception] = []

    struct Exception: Sendable {
        var ways: Set<MatrixWay> = [.plain, .conditional, .resumed]
        var moments: Set<MatrixMoment> = Set(MatrixMoment.allCases)
        var means: Meaning
    }

    enum Meaning: Sendable, Hashable {
        case nature(MatrixNature)
        /// Not a cell, for that reason.
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

    /// The same for each request from then on.
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
