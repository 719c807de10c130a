/// The server's side of an upload protocol, without its wire: what is answered to requests of whose bodies perhaps only
/// a part arrives.
///
/// Tests of a protocol's client call it directly; ``TestServer`` serves it on a socket.
public protocol UploadService: Sendable {
    /// A request's head has arrived. `id` tells requests under way apart.
    mutating func begin(_ id: Int, method: String, target: String, headers: HeaderFields) -> UploadServiceStep

    /// The next bytes of its body. Called only after ``UploadServiceStep/read(interim:)``.
    ///
    /// - Returns: Informational answers to send now.
    mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response]

    /// The body has ended.
    ///
    /// - Parameter isWhole: `false` when the connection ended first: the answer reaches nobody.
    mutating func end(_ id: Int, isWhole: Bool) -> Response
}

/// What happens after a request's head.
public enum UploadServiceStep: Sendable {
    /// The body is read, after these informational answers.
    case read(interim: [Response] = [])
    /// The body isn't wanted: this is the answer.
    case answer(Response)
}
