public import TransferCore

/// The accounts that a `.netrc` file names for the hops of one exchange.
public struct NetrcAccount: Sendable, Hashable {
    /// The entries of the file.
    public var netrc: Netrc
    /// The host of the request's original URL, in lower case.
    public var host: String
    /// The user that the request names for that host, where the file has entries of several users.
    public var user: String?

    /// Creates the accounts of a request to `host`.
    public init(_ netrc: Netrc, host: String, user: String? = nil) {
        self.netrc = netrc
        self.host = host
        self.user = user
    }

    /// The login for the original URL, from the entry of its host or from the entry for all machines.
    public var own: (user: String, password: String)? {
        netrc.entryOrDefault(of: host, user: user).map { ($0.login ?? user ?? "", $0.password) }
    }

    /// Returns the login at a machine that a redirect led to, from an entry of that very machine only.
    func named(_ host: String) -> (user: String, password: String)? {
        let user = host == self.host ? user : nil
        return netrc.entry(of: host, user: user).map { ($0.login ?? user ?? "", $0.password) }
    }
}

/// The choice of the entry of a `.netrc` file that a hop gets.
///
/// The file names machines, so each gets its own entry also after a redirect, as single sign-on needs it. The server
/// that redirects chooses the next request. Therefore only GET and HEAD without a body get an entry on later hops. Such
/// an entry is never the one for all machines, and it is never sent in clear text once a hop was secure.
struct NetrcRule: Sendable {
    private let account: NetrcAccount
    private var wasSecure: Bool
    /// The machines that refused their entries.
    private var refused: Set<Origin> = []

    /// Creates the rule for one exchange.
    ///
    /// - Parameter url: The original URL of the request.
    init(_ account: NetrcAccount, url: String) {
        self.account = account
        wasSecure = Origin(url: url)?.scheme == "https"
    }

    /// Notes that a hop is about to be made.
    ///
    /// - Parameters:
    ///   - isAnew: Whether the hop is the first one on a path that begins at the original URL.
    ///   - isDirect: Whether the hop skips the hops that led to its URL earlier, one of which may have been secure.
    mutating func note(_ origin: Origin, isAnew: Bool, isDirect: Bool) {
        if isAnew { wasSecure = false }
        if origin.scheme == "https" || isDirect { wasSecure = true }
    }

    mutating func refuse(at origin: Origin) { refused.insert(origin) }

    func credential(_ hop: Hop, _ origin: Origin) -> ChallengeCredential? {
        guard !refused.contains(origin), hop.headers.value("Authorization") == nil else { return nil }
        let login: (user: String, password: String)?
        if hop.sendsCredentials {
            login = account.own
        } else {
            guard ["GET", "HEAD"].contains(hop.method), !hop.sendsBody, origin.scheme == "https" || !wasSecure else {
                return nil
            }
            login = account.named(origin.host)
        }
        return login.map { ChallengeCredential(user: $0.user, password: $0.password, isRemembered: false) }
    }
}
