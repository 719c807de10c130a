import TransferCore

/// A server's answer to the question how many bytes of an upload it holds, asked after a break.
///
/// | Answer | Consequence in every protocol |
/// |---|---|
/// | ``known(_:)`` | the upload continues from there |
/// | ``gone`` | it begins anew; where it may be complete, the whole is asked for first |
/// | ``refused`` | it begins anew, too; the old upload stays recorded until its successor exists, and is removed then |
/// | ``unknown`` | the attempt fails as a temporary failure, and the next one asks again |
///
/// No answer to a question ends a job that could begin anew: only the answer to the file shows whether the server takes
/// it.
enum ReportedOffset: Sendable, Hashable {
    /// The server has that many bytes.
    case known(Int64)
    /// The server says that there is no upload.
    case gone
    /// The server refuses the question (a write-only policy, an unknown method), or its success has no offset.
    ///
    /// The same question would get the same answer again.
    case refused
    /// The server cannot answer now.
    case unknown

    /// Interprets an answer.
    ///
    /// - Parameters:
    ///   - offset: The offset in a success; `nil` where it has none.
    ///   - isPassing: Whether the same question may be answered later.
    init(status: Int, offset: Int64?, isPassing: Bool) {
        switch status {
        case 200..<300: self = offset.map { .known($0) } ?? .refused
        case 404, 410: self = .gone
        default: self = isPassing ? .unknown : .refused
        }
    }
}
