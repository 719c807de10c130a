import Foundation
public import TransferCore

extension ProxyRule {
    /// Reads the proxies of a `URLSessionConfiguration.connectionProxyDictionary`, whose keys are CFNetwork's.
    ///
    /// The keys are `HTTPProxy`, `HTTPPort`, `HTTPSProxy`, `HTTPSPort`, `SOCKSProxy` and `SOCKSPort`; each pair counts
    /// unless its `…Enable` is 0. Further keys are `ProxyUsername` and `ProxyPassword` (`kCFProxyUsernameKey`,
    /// `kCFProxyPasswordKey`) and `ExceptionsList`. An empty dictionary means no proxies.
    public init(connectionProxyDictionary dictionary: [AnyHashable: Any]) {
        func text(_ names: String...) -> String? {
            names.lazy.compactMap { dictionary[$0] as? String }.first { !$0.isEmpty }
        }
        func number(_ name: String) -> Int? { (dictionary[name] as? NSNumber)?.intValue ?? dictionary[name] as? Int }
        let user = text("kCFProxyUsernameKey", "ProxyUsername")
        let password = text("kCFProxyPasswordKey", "ProxyPassword")
        let userinfo = user.map { "\(Self.escaped($0)):\(Self.escaped(password ?? ""))@" } ?? ""
        func url(_ kind: String, _ scheme: String, _ defaultPort: Int) -> String? {
            guard number(kind + "Enable") != 0, let host = text(kind + "Proxy") else { return nil }
            let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            return "\(scheme)://\(userinfo)\(name):\(number(kind + "Port") ?? defaultPort)"
        }
        let socks = url("SOCKS", "socks5h", 1080)
        self.init(
            http: url("HTTP", "http", 80) ?? socks, https: url("HTTPS", "http", 80) ?? socks,
            exceptions: (dictionary["ExceptionsList"] as? [String] ?? []).map { $0.lowercased() })
    }

    private static func escaped(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
