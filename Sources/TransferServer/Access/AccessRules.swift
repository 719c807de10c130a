public import TransferQueue

/// The clients that are admitted, and the rights of each.
public struct AccessRules: Sendable {
    /// The secrets that grant all rights.
    public var secrets: [ServerSecret] = []
    /// The secrets that grant the right to read.
    public var readSecrets: [ServerSecret] = []
    /// Whether every client that can connect has all rights.
    public var isOpen = false
    /// The origins of pages that may send requests, as browsers send them, including `null` and those of extensions.
    public var origins: [String] = []

    /// Creates rules that admit no client.
    public init() {}

    /// Checks the rules.
    ///
    /// - Throws: `TransferError` where a secret for reading also grants all rights, whatever the places of both are.
    public func check() throws(TransferError) {
        guard readSecrets.contains(where: { reader in secrets.contains { $0.isSame(as: reader) } }) else { return }
        throw TransferError(
            .invalidRequest,
            "a secret that may only read is also the secret that may do everything: give one of them another value")
    }

    enum Level: Int, Sendable, Comparable {
        case unauthenticated, reader, owner

        static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    /// Returns the rights of a request with this `Authorization` field.
    func level(authorization: String?) -> Level {
        if isOpen { return .owner }
        guard let authorization, authorization.prefix(7).lowercased() == "bearer " else { return .unauthenticated }
        return level(secret: authorization.dropFirst(7).drop { $0 == " " })
    }

    /// Returns the rights of a call with this secret. All secrets are compared, so that the time reveals nothing.
    func level(secret: some StringProtocol) -> Level {
        if isOpen { return .owner }
        let isOwner = secrets.reduce(false) { $1.matches(secret) || $0 }
        let isReader = readSecrets.reduce(false) { $1.matches(secret) || $0 }
        return isOwner ? .owner : isReader ? .reader : .unauthenticated
    }

    /// Returns whether the service has this host name. A page whose own name was redirected to this machine (DNS
    /// rebinding) sends another one.
    func admits(host: String?) -> Bool {
        guard let host else { return false }
        let name = Self.name(ofAuthority: host)
        return Self.ownNames.contains(name) || origins.contains { Self.host(ofOrigin: $0) == name }
    }

    /// Returns whether a page of this origin may send requests; a client that is no page sends no origin.
    func admits(origin: String?, host: String?) -> Bool {
        guard let origin else { return true }
        if isNamed(origin) { return true }
        return host.map { origin.lowercased() == "http://\($0.lowercased())" } ?? false
    }

    /// Returns whether a page of another site caused the request, as the browser says (W3C Fetch Metadata). A page that
    /// embeds an image or a script sends no origin.
    ///
    /// A navigation is admitted, because its response is shown to the user and to no other page.
    ///
    /// - Parameters:
    ///   - site: The field `Sec-Fetch-Site`, which pages cannot set.
    ///   - mode: The field `Sec-Fetch-Mode`.
    func isForeign(site: String?, mode: String?, origin: String?) -> Bool {
        guard let site = site?.lowercased(), site != "same-origin", site != "none" else { return false }
        if let origin, isNamed(origin) { return false }
        return mode?.lowercased() != "navigate"
    }

    /// Returns whether pages of this origin may read responses.
    func isNamed(_ origin: String) -> Bool { origins.contains(origin) }

    private static let ownNames: Set<String> = ["localhost", "127.0.0.1", "::1"]

    private static func name(ofAuthority authority: String) -> String {
        if authority.hasPrefix("["), let close = authority.firstIndex(of: "]") {
            return authority[authority.index(after: authority.startIndex)..<close].lowercased()
        }
        return (authority.firstIndex(of: ":").map { String(authority[..<$0]) } ?? authority).lowercased()
    }

    private static func host(ofOrigin origin: String) -> String? {
        for scheme in ["http://", "https://"] where origin.hasPrefix(scheme) {
            return name(ofAuthority: String(origin.dropFirst(scheme.count)))
        }
        return nil
    }
}
