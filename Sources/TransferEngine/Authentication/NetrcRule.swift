public import TransferCore

/// Accounts that a `.netrc` file names for the hops of one exchange.
public struct NetrcAccount: Sendable, Hashable {
    public var netrc: Netrc
    /// The host of the owner's own URL, in lower case.
    public var host: String
    /// The user that the owner named for that host, where the file has several of its users.
    public var user: String?

    public init(_ netrc: Netrc, host: String, user: String? = nil) {
        self.netrc = netrc
        self.host = host
        self.user = user
    }

    /// The login at the owner's own URL, by its entry or by that for all machines.
    public var own: (user: String, password: String)? {
        netrc.entryOrDefault(of: host, user: user).map { ($0.login ?? user ?? "", $0.password) }
    }

    /// The login at a machine that redirects led to: only what the file says of that very machine.
    func named(_ host: String) -> (user: String, password: String)? {
        let user = host == self.host ? user : nil
        return netrc.entry(of: host, user: user).map { ($0.login ?? user ?? "", $0.password) }
    }
}

/// The choice of the entry of a `.netrc` file that a hop gets.
///
/// The file names machines, so each gets its own entry also where redirects led there, as single sign-on needs it. Who
/// redirects chooses what is asked there: therefore only plain questions (GET and HEAD, without a body) get one on later
/// hops, never by the entry for all machines, and never in clear text once a hop was secure.
struct NetrcRule: Sendable {
    private let account: NetrcAccount
    private var wasSecure: Bool
    /// Machines that refused theirs.
    private var refused: Set<Origin> = []

    /// - Parameter url: The owner's own.
    init(_ account: NetrcAccount, url: String) {
        self.account = account
        wasSecure = Origin(url: url)?.scheme == "https"
    }

    /// A hop is about to be made.
    ///
    /// - Parameters:
    ///   - isAnew: Whether it's the first of a way from the owner's URL.
    ///   - isDirect: Whether it skips those that led to its URL earlier, of which one may have been secure.
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
