/// Facts about a way to the network, under the name and with the bits that Apple's SystemConfiguration has.
///
/// Only ``reachable`` and ``isWWAN`` are ever set here: no connection is made on demand.
public struct SCNetworkReachabilityFlags: OptionSet, Sendable, Hashable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
    /// There is a way.
    public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
    public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
    public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
    public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
    public static let connectionOnDemand = SCNetworkReachabilityFlags(rawValue: 1 << 5)
    public static let isLocalAddress = SCNetworkReachabilityFlags(rawValue: 1 << 16)
    public static let isDirect = SCNetworkReachabilityFlags(rawValue: 1 << 17)
    /// Over modems only.
    public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)

    /// - Returns: `nil` where nothing is known.
    init?(_ status: NetworkReachabilityManager.NetworkReachabilityStatus) {
        switch status {
        case .unknown: return nil
        case .notReachable: self = []
        case .reachable(.ethernetOrWiFi): self = .reachable
        case .reachable(.cellular): self = [.reachable, .isWWAN]
        }
    }
}
