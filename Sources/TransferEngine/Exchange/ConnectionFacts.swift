public import TransferCore

/// The ends of an exchange's connection, for the decision what a change of the network means to it.
public struct ConnectionFacts: Sendable, Hashable {
    /// The local address; `nil` while there is no connection, because a name is being looked up or no server has
    /// answered yet.
    public var localAddress: IPAddress?
    /// The remote address: the server's, or the proxy's.
    public var remoteAddress: IPAddress?

    /// Creates the facts of a connection.
    public init(localAddress: IPAddress? = nil, remoteAddress: IPAddress? = nil) {
        self.localAddress = localAddress
        self.remoteAddress = remoteAddress
    }
}
