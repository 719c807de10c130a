/// The flags of a route to the network, with the name and the bits of Apple's SystemConfiguration.
///
/// Only ``reachable`` and ``isWWAN`` are ever set here, since no connection is made on demand.
public struct SCNetworkReachabilityFlags: OptionSet, Sendable, Hashable {
    /// The bits of the set.
    public let rawValue: UInt32
    /// Creates a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The route uses a transient connection; never set here.
    public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
    /// There is a route.
    public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
    /// A connection must be made first; never set here.
    public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
    /// Traffic makes the connection; never set here.
    public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
    /// The user must act before a connection is made; never set here.
    public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
    /// The connection is made on demand; never set here.
    public static let connectionOnDemand = SCNetworkReachabilityFlags(rawValue: 1 << 5)
    /// The destination is this machine; never set here.
    public static let isLocalAddress = SCNetworkReachabilityFlags(rawValue: 1 << 16)
    /// The destination is a neighbour; never set here.
    public static let isDirect = SCNetworkReachabilityFlags(rawValue: 1 << 17)
    /// All routes use modems.
    public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)

    /// Creates the flags of a status.
    ///
    /// - Returns: `nil` where the status is unknown.
    init?(_ status: NetworkReachabilityManager.NetworkReachabilityStatus) {
        switch status {
        case .unknown: return nil
        case .notReachable: self = []
        case .reachable(.ethernetOrWiFi): self = .reachable
        case .reachable(.cellular): self = [.reachable, .isWWAN]
        }
    }
}
