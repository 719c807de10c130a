import TransferCore

/// A server's answer to the question what it holds of an upload, asked after a break.
///
/// | Told | What follows, in every protocol |
/// |---|---|
/// | ``known(_:)`` | the upload goes on from there |
/// | ``gone`` | it begins anew; where it may be complete, the whole is asked for first |
/// | ``refused`` | it begins anew, too; what the server may hold stays written down until its successor is there, and is given up then |
/// | ``unknown`` | the attempt fails as one that may succeed later, and the next one asks again |
///
/// No answer to a question ends a job that could begin anew: whether the server takes the file is for its answer to the
/// file to say.
enum ReportedOffset: Sendable, Hashable {
    /// The server has that many bytes.
    case known(Int64)
    /// The server says that nothing is there.
    case gone
    /// The server doesn't let itself be asked (a policy that allows writing only, a method that it doesn't know), or its
    /// success tells no offset. Asked again it would say the same.
    case refused
    /// The server can't say now.
    case unknown

    /// - Parameters:
    ///   - offset: What a success tells; `nil` where there is nothing to read in it.
    ///   - isPassing: Whether the same question may be answered later.
    init(status: Int, offset: Int64?, isPassing: Bool) {
        switch status {
        case 200..<300: self = offset.map { .known($0) } ?? .refused
        case 404, 410: self = .gone
        default: self = isPassing ? .unknown : .refused
        }
    }
}
