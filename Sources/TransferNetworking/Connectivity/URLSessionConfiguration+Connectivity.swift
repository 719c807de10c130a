import Foundation
public import FoundationNetworking

extension URLSessionConfiguration {
    /// Whether requests wait for a route to the network, where there is none, instead of failing; `false` by default.
    /// The time for a whole attempt (`timeoutIntervalForResource`) bounds the wait.
    ///
    /// Foundation on Linux has no such property. The value is kept in `connectionProxyDictionary` under a private key,
    /// as copies of a configuration include that dictionary.
    public var waitsForConnectivity: Bool {
        get { connectionProxyDictionary?[Self.waitsKey] as? Bool ?? false }
        set {
            var values = connectionProxyDictionary ?? [:]
            values[Self.waitsKey] = newValue ? true : nil
            connectionProxyDictionary = values.isEmpty ? nil : values
        }
    }

    /// The proxies of the configuration, without the private key of this file.
    var proxyDictionary: [AnyHashable: Any]? {
        guard var values = connectionProxyDictionary else { return nil }
        let isOurs = values.removeValue(forKey: Self.waitsKey) != nil
        return values.isEmpty && isOurs ? nil : values
    }

    private static let waitsKey = "TransferKit.waitsForConnectivity"
}
