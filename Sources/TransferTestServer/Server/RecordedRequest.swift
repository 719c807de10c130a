/// A request in the server's log. Written when its head arrives and filled in until its answer ends.
@dynamicMemberLookup
public struct RecordedRequest: Sendable {
    public let head: RequestHead
    /// From 1, in the order in which heads arrived.
    public let number: Int
    /// From 1; requests with the same number shared a connection.
    public let connection: Int
    /// `127.0.0.1:40312`, or `unix`.
    public let peer: String
    /// Request body bytes received.
    public internal(set) var bodyLength: Int64 = 0
    /// `nil` while no final answer has begun, and when there was none.
    public internal(set) var status: Int?
    /// Response body bytes handed to the kernel, or about to be.
    public internal(set) var bytesSent: Int64 = 0
    /// The answer ended, as it should or by a fault.
    public internal(set) var isFinished = false

    public subscript<Value>(dynamicMember member: KeyPath<RequestHead, Value>) -> Value { head[keyPath: member] }
}
