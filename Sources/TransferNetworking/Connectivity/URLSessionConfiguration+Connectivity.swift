import Foundation
public import FoundationNetworking

extension URLSessionConfiguration {
    /// Whether requests wait for a way to the network, where there is none, instead of failing; `false` by default. The
    /// time for a whole attempt (`timeoutIntervalForResource`) bounds the wait.
    ///
    /// Foundation doesn't have it on Linux. It's kept in `connectionProxyDictionary`, under a key of our own, as copies
    /// of a configuration carry that.
    public var waitsForConnectivity: Bool {
        get { connectionProxyDictionary?[Self.waitsKey] as? Bool ?? false }
        set {
            var values = connectionProxyDictionary ?? [:]
            values[Self.waitsKey] = newValue ? true : nil
            connectionProxyDictionary = values.isEmpty ? nil : values
        }
    }

    /// What is said of proxies, and nothing else.
    var proxyDictionary: [AnyHashable: Any]? {
        guard var values = connectionProxyDictionary else { return nil }
        let isOurs = values.removeValue(forKey: Self.waitsKey) != nil
        return values.isEmpty && isOurs ? nil : values
    }

    private static let waitsKey = "TransferKit.waitsForConnectivity"
}
