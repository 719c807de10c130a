import TransferCore

/// The treatment of a file's body that only the end of its connection ends.
///
/// A body of this kind may have been cut without any sign of it (RFC 9112 §6.3, §8).
public enum OpenEnd: Sendable, Hashable {
    /// The body is taken for complete: a digest decides, or completeness does not matter.
    case taken
    /// The body counts as complete unless its end refutes that: over TLS it must end with the closing alert (RFC 9112
    /// §9.8). The server receives no further request.
    case takenIfAlerted
    /// The server is asked once for the length. A longer file than came fails the exchange.
    ///
    /// The outcome says that the length is unproven if the server reports none.
    case asked
    /// The server is asked once for the length. The exchange fails where the file is longer or the length is unknown.
    case refused
}

/// The way in which a connection ended, where its end is the only end of the body.
public enum ConnectionClosure: Sendable, Hashable {
    /// There was no TLS, or its end is unknown.
    case unknown
    /// The server announced the end by TLS's closing alert (close_notify).
    case alerted
    /// The connection ended without that alert. Any party on the path can cause that, so the answer is incomplete (RFC
    /// 9112 §9.8).
    case cut
}

/// The pure rule that decides by lengths whether a file is complete.
enum LengthRule {
    /// Returns whether an answer's own framing shows that its body is complete.
    ///
    /// - Parameters:
    ///   - total: The file's length, if the answer reported it; then the two are compared.
    ///   - isFramed: Whether the protocol itself marks the end of a body, as HTTP/2 and those of file servers do.
    static func isProven(_ head: ResponseHead, total: Int64?, isFramed: Bool) -> Bool {
        if total != nil { return true }
        // The answer is a part of a file of unknown length.
        if head.status == 206 { return false }
        return isFramed || head.isChunked
    }

    enum Answer: Equatable {
        case same
        /// The file is longer.
        case cut(length: Int64)
        /// There is no length to compare.
        case unknown
    }

    /// Judges a received body by the answer to a later HEAD.
    static func judge(_ answer: ResponseHead, of head: ResponseHead, position: Int64) -> Answer {
        guard answer.status == 200, let length = answer.contentLength, answer.value("Transfer-Encoding") == nil,
            answer.contentCoding?.lowercased() == head.contentCoding?.lowercased()
        else { return .unknown }
        // Another version's length proves nothing about this one.
        if let old = Validator(head), let new = Validator(answer), !old.mayEqual(new) { return .unknown }
        if length == position { return .same }
        // Programs that generate their answers report 0, or another length, where no body follows.
        return length > position ? .cut(length: length) : .unknown
    }
}

extension ResponseHead {
    /// Whether the last transfer coding marks its own end (RFC 9112 §7.1).
    fileprivate var isChunked: Bool {
        let last = fields.last { $0.isNamed("Transfer-Encoding") }?.value.split(separator: ",").last
        return last?.filter { $0 != " " && $0 != "\t" }.asciiCaseInsensitiveEquals("chunked") ?? false
    }
}

extension TransferError {
    static func cut(at position: Int64, of length: Int64) -> TransferError {
        TransferError(
            .connectionLost,
            "the answer ended \(CountText.bytes(length - position)) early: the server reports \(length) for the file",
            isTransient: true)
    }

    static let endedWithoutAlert = TransferError(
        .connectionLost,
        "the connection ended without TLS's closing alert, and the server reports no length: the file may be cut; "
            + "give a checksum, which proves it", isTransient: true)

    static let answerWithoutAlert = TransferError(
        .connectionLost,
        "the connection ended without TLS's closing alert (close_notify), and the answer tells no length: it may be cut",
        isTransient: true)

    static let unprovenLength = TransferError(
        .unproven,
        "nothing proves that the file is whole: the server reports no length, and the connection's end may have cut it; "
            + "give a checksum, or do without \"strict\"")
}
