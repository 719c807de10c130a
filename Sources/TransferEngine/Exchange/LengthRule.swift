import TransferCore

/// The treatment of a body that only the end of its connection ends, where a file is wanted: the body may have been
/// cut, and nothing that came says so (RFC 9112 §6.3, §8).
public enum OpenEnd: Sendable, Hashable {
    /// The body is taken for the whole: a digest decides, or nobody minds.
    case taken
    /// The body is taken for the whole unless its end refutes that: under TLS it has to come with the closing alert (RFC
    /// 9112 §9.8). The server is asked nothing.
    case takenIfAlerted
    /// The server is asked for the length, once. A longer file than came fails the exchange; where no length is told, the
    /// outcome says that none is proven.
    case asked
    /// The same, but where no length is told the exchange fails.
    case refused
}

/// The end of the connection of an answer, where that end is all that ends the body.
public enum ConnectionClosure: Sendable, Hashable {
    /// There was no TLS, or nothing tells how it ended.
    case unknown
    /// The server said by TLS's closing alert (close_notify) that no more follows.
    case alerted
    /// The connection ended without that alert: anybody on the way can do that, and the answer isn't complete (RFC 9112
    /// §9.8).
    case cut
}

/// Whether what came of a file is all of it, as far as lengths tell: pure.
enum LengthRule {
    /// Whether an answer's own framing shows that its body came whole.
    ///
    /// - Parameters:
    ///   - total: The file's length, as far as the answer told it; then the two are compared.
    ///   - isFramed: Whether the protocol itself ends a body, as HTTP/2 and file servers' do.
    static func isProven(_ head: ResponseHead, total: Int64?, isFramed: Bool) -> Bool {
        if total != nil { return true }
        // A part of a whole of which nobody says how long it is.
        if head.status == 206 { return false }
        return isFramed || head.isChunked
    }

    enum Answer: Equatable {
        case same
        /// The file is longer.
        case cut(length: Int64)
        /// Nothing that could be compared.
        case unknown
    }

    /// The word of a HEAD's answer on a body that came before.
    static func judge(_ answer: ResponseHead, of head: ResponseHead, position: Int64) -> Answer {
        guard answer.status == 200, let length = answer.contentLength, answer.value("Transfer-Encoding") == nil,
            answer.contentCoding?.lowercased() == head.contentCoding?.lowercased()
        else { return .unknown }
        // Another version's length says nothing of this one.
        if let old = Validator(head), let new = Validator(answer), !old.mayEqual(new) { return .unknown }
        if length == position { return .same }
        // Programs that make their answers tell 0, or the length of something else, where no body follows.
        return length > position ? .cut(length: length) : .unknown
    }
}

extension ResponseHead {
    /// Whether the last transfer coding is the one that ends by itself (RFC 9112 §7.1).
    fileprivate var isChunked: Bool {
        let last = fields.last { $0.isNamed("Transfer-Encoding") }?.value.split(separator: ",").last
        return last?.filter { $0 != " " && $0 != "\t" }.asciiCaseInsensitiveEquals("chunked") ?? false
    }
}

extension TransferError {
    static func cut(at position: Int64, of length: Int64) -> TransferError {
        TransferError(
            .connectionLost,
            "the answer ended \(CountText.bytes(length - position)) early: the server tells \(length) for the file",
            isTransient: true)
    }

    static let endedWithoutAlert = TransferError(
        .connectionLost,
        "the connection ended without TLS's closing alert, and the server tells no length: the file may be cut; "
            + "give a checksum, which proves it", isTransient: true)

    static let answerWithoutAlert = TransferError(
        .connectionLost,
        "the connection ended without TLS's closing alert (close_notify), and the answer tells no length: it may be cut",
        isTransient: true)

    static let unprovenLength = TransferError(
        .unproven,
        "nothing proves that the file is whole: the server tells no length, and the connection's end may have cut it; "
            + "give a checksum, or do without \"strict\"")
}
