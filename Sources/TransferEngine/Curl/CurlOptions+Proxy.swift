import CTransferCurl
import TransferCore

// The options of the proxy and its authentication.
extension CurlOptions {
    func applyProxy(_ handle: CurlHandle, _ settings: ExchangeSettings) throws(TransferError) {
        // Our own rules decide about exceptions: libcurl knows CIDR blocks since 7.86 only, and no ports.
        try handle.set(CURLOPT_NOPROXY, "")
        if let path = settings.unixSocket {
            try handle.set(CURLOPT_PROXY, "")
            return try handle.set(CURLOPT_UNIX_SOCKET_PATH, path)
        }
        guard let way = settings.way(to: hop.url) else {
            // An empty string is set: with none libcurl would read the environment.
            return try handle.set(CURLOPT_PROXY, "")
        }
        let address = ProxyAddress(way)
        let named: String
        do throws(HostName.Fault) {
            named = try ProxyAddress.canonical(way)
        } catch {
            throw TransferError(.badURL, "the proxy \(address) has a host that is no name: \(error)")
        }
        try handle.set(CURLOPT_PROXY, named)
        if address.hasCredentials {
            try handle.set(CURLOPT_PROXYAUTH, Int(bitPattern: proxySchemes ?? Self.proxySchemesToTry))
        }
        // A transfer of a file server has its own callback there, and no proxy that would challenge twice.
        if exchange.files == nil,
            address.hasCredentials || address.scheme.hasPrefix("http") && hop.url.hasPrefix("https:")
        {
            try ProxyLegs.measure(exchange, on: handle)
        }
        guard address.scheme == "https" else { return }
        // With a folder of certificates libcurl cannot keep the parsed ones.
        try handle.set(CURLOPT_PROXY_CAPATH, nil as String?)
        if let file = settings.proxyAuthorities { try handle.set(CURLOPT_PROXY_CAINFO, file) }
    }

    func applyCredentials(_ handle: CurlHandle) throws(TransferError) {
        guard case .connection(let scheme, let credential) = hop.authorization else { return }
        try handle.set(CURLOPT_USERNAME, credential.user)
        try handle.set(CURLOPT_PASSWORD, credential.password)
        try handle.set(CURLOPT_HTTPAUTH, scheme == .ntlm ? Self.ntlm : Self.negotiate)
        // Streams of one HTTP/2 connection would share its authentication (RFC 9113 does not provide for it).
        try handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    }

    // The CURLAUTH_… macros, which Swift does not import (curl.h).
    static let basic: UInt = 1 << 0
    static let digest: UInt = 1 << 1
    private static let negotiate = 1 << 2
    private static let ntlm = 1 << 3
    /// The schemes to try until a proxy has named its own: the password is not sent in clear text.
    static let proxySchemesToTry: UInt = basic | digest | UInt(ntlm)
}

extension ExchangeSettings {
    /// Returns the proxy's URL for one hop, or `nil` for a direct connection.
    // The function is inlined, because a call would copy the settings only to find that there is no proxy.
    @inline(__always) func way(to url: String) -> String? {
        route.unixSocket == nil && !route.proxies.isEmpty ? proxied(url) : nil
    }

    private func proxied(_ url: String) -> String? {
        if let origin = Origin(url: url) { return proxies.proxy(for: origin) }
        return Origin(fileServerURL: url).flatMap { proxies.tunnel(for: $0) }
    }
}

extension TransferError {
    /// Returns the error of a proxy's 407 that was not answered, or whose answer was refused.
    static func proxyAsks(_ proxy: ProxyAddress) -> TransferError {
        TransferError(
            .proxyRefused,
            proxy.hasCredentials
                ? "the proxy \(proxy) refused the credentials (407)" : "the proxy \(proxy) asks for credentials (407)",
            cause: .http(status: 407), scope: .origin
        ).blaming(proxy)
    }
}
