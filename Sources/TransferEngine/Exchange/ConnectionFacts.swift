public import TransferCore

/// Where the connection of an exchange ends, for those who decide what a change of the network means to it.
public struct ConnectionFacts: Sendable, Hashable {
    /// The end on this machine; `nil` while there is no connection: a name is being looked up, or nobody has answered
    /// yet.
    public var localAddress: IPAddress?
    /// The other end: the server's, or the proxy's.
    public var remoteAddress: IPAddress?

    public init(localAddress: IPAddress? = nil, remoteAddress: IPAddress? = nil) {
        self.localAddress = localAddress
        self.remoteAddress = remoteAddress
    }
}
