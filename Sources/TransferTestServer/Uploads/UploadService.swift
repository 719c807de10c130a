/// The server's side of an upload protocol, without the network: the responses to requests, whose bodies may arrive
/// incompletely.
///
/// Tests of a protocol's client call the service directly; ``TestServer`` serves it on a socket.
public protocol UploadService: Sendable {
    /// Handles the head of a request. The `id` distinguishes simultaneous requests.
    mutating func begin(_ id: Int, method: String, target: String, headers: HeaderFields) -> UploadServiceStep

    /// Handles the next bytes of the body. The function is called only after ``UploadServiceStep/read(interim:)``.
    ///
    /// - Returns: The interim responses to send now.
    mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response]

    /// Handles the end of the body.
    ///
    /// - Parameter isWhole: Whether the body is complete; `false` where the connection ended first, so that no client
    ///   receives the response.
    mutating func end(_ id: Int, isWhole: Bool) -> Response
}

/// The step after a request's head.
public enum UploadServiceStep: Sendable {
    /// The body is read, after these interim responses have been sent.
    case read(interim: [Response] = [])
    /// The body is not read; this is the response.
    case answer(Response)
}
