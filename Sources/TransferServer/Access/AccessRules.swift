/// The clients that are heard, and what each may do.
public struct AccessRules: Sendable {
    /// Who shows one of these may do everything.
    public var secrets: [ServerSecret] = []
    /// Who shows one of these may look.
    public var readSecrets: [ServerSecret] = []
    /// Everybody who reaches the service may do everything.
    public var isOpen = false
    /// Origins of pages that may ask: as browsers send them, also `null` and those of extensions.
    public var origins: [String] = []

    public init() {}

    enum Level: Int, Sendable, Comparable {
        case nobody, reader, owner

        static func < (one: Level, other: Level) -> Bool { one.rawValue < other.rawValue }
    }

    /// The rights of a request with such an `Authorization` field.
    func level(authorization: String?) -> Level {
        if isOpen { return .owner }
        guard let authorization, authorization.prefix(7).lowercased() == "bearer " else { return .nobody }
        return level(secret: authorization.dropFirst(7).drop { $0 == " " })
    }

    /// The rights of a call that shows this secret; all are compared, so that the time tells nothing.
    func level(secret: some StringProtocol) -> Level {
        if isOpen { return .owner }
        let isOwner = secrets.reduce(false) { $1.matches(secret) || $0 }
        let isReader = readSecrets.reduce(false) { $1.matches(secret) || $0 }
        return isOwner ? .owner : isReader ? .reader : .nobody
    }

    /// Whether the service answers to that name. A page whose own name was pointed at this machine (DNS rebinding) shows
    /// another one.
    func admits(host: String?) -> Bool {
        guard let host else { return false }
        let name = Self.name(ofAuthority: host)
        return Self.ownNames.contains(name) || origins.contains { Self.host(ofOrigin: $0) == name }
    }

    /// Whether a page of that origin may ask; a client that is no page sends none.
    func admits(origin: String?, host: String?) -> Bool {
        guard let origin else { return true }
        if isNamed(origin) { return true }
        return host.map { origin.lowercased() == "http://\($0.lowercased())" } ?? false
    }

    /// Whether answers may be read by pages of that origin.
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
