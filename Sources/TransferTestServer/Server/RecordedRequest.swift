/// A request in the server's log, created when its head arrives and updated until its response ends.
@dynamicMemberLookup
public struct RecordedRequest: Sendable {
    /// The head of the request.
    public let head: RequestHead
    /// The number of the request, from 1, in the order in which heads arrived.
    public let number: Int
    /// The number of the connection, from 1; requests with the same number shared one.
    public let connection: Int
    /// The client's address, such as `127.0.0.1:40312`, or `unix`.
    public let peer: String
    /// The number of request body bytes received.
    public internal(set) var bodyLength: Int64 = 0
    /// The status of the final response; `nil` before it begins, and where there was none.
    public internal(set) var status: Int?
    /// The number of response body bytes handed to the kernel, or about to be.
    public internal(set) var bytesSent: Int64 = 0
    /// Whether the response has ended, normally or by a fault.
    public internal(set) var isFinished = false

    /// The value of a property of the head.
    public subscript<Value>(dynamicMember member: KeyPath<RequestHead, Value>) -> Value { head[keyPath: member] }
}
