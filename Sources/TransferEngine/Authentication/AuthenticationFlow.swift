import TransferCore

/// The authentication of one exchange: which challenge is answered, with which credential, and when to stop.
///
/// The value is pure except for the memory that it shares with other exchanges. Basic and Digest are answered here, so
/// that realms, stale nonces and several challenges can be handled. Schemes that bind to a connection are left to
/// libcurl.
struct AuthenticationFlow: Sendable {
    /// The number of `stale` nonces in a row that are answered. A server that calls every nonce stale would loop
    /// forever.
    private static let staleLimit = 2

    private struct Answering {
        var scheme: AcceptedScheme
        var credential: ChallengeCredential
        var realm: String?
        /// Whether the credential comes from the memory, so that the first refusal does not judge it.
        var isFromMemory: Bool
        /// Whether the scheme comes from another exchange's challenge whose answer has not been judged yet.
        var isUnproven = false
        /// Whether the credential is from the exchange's settings, which decide for each hop whether it is sent.
        var isGiven = true
        /// Whether the credential is sent before the server has asked for one.
        var isUnasked = false
        var stale = 0
    }

    private let given: ChallengeCredential?
    private var netrc: NetrcRule?
    private let ownURL: String
    private let ask: (@Sendable (AuthenticationSpace) -> ChallengeCredential?)?
    private let memory: AuthenticationMemory?
    private let body: RequestBody
    private let makeNonce: @Sendable () -> String
    private var answering: [Origin: Answering] = [:]
    private(set) var failures = 0
    private var isFirst = true
    /// Whether a long body may wait for an expected challenge. It may not after the server has refused to be asked
    /// (417).
    var mayAskFirst = true

    init(
        _ request: ExchangeRequest, makeNonce: @escaping @Sendable () -> String = AuthenticationFlow.randomNonce
    ) {
        if case .password(let user, let password) = request.settings.credentials {
            given = ChallengeCredential(
                user: user, password: password, isRemembered: request.authentication.remembers)
        } else {
            given = nil
        }
        if case .netrc(let account) = request.settings.credentials {
            netrc = NetrcRule(account, url: request.url)
        } else {
            netrc = nil
        }
        ownURL = request.url
        ask = request.authentication.ask
        memory = request.authentication.memory
        body = request.body
        self.makeNonce = makeNonce
    }

    var isIdle: Bool { given == nil && netrc == nil && ask == nil }

    /// Returns the hop with its authorisation, where that is known.
    ///
    /// Without a known authorisation, a long body is held back until the server has had the time to ask for a
    /// credential (RFC 9110 §10.1.1).
    mutating func authorized(_ hop: Hop) -> Hop {
        var hop = answered(hop)
        let asksFirst =
            mayAskFirst && !isIdle && hop.sendsBody && body.isLong && hop.authorization == nil
            && hop.headers.value("Authorization") == nil
            && Origin(url: hop.url).flatMap { own(hop, $0) }?.isAccount == true
        if hop.asksFirst != asksFirst { hop.asksFirst = asksFirst }
        return hop
    }

    private mutating func answered(_ hop: Hop) -> Hop {
        var hop = hop
        if hop.authorization != nil { hop.authorization = nil }
        if hop.netrcMachine != nil { hop.netrcMachine = nil }
        guard !isIdle, let origin = Origin(url: hop.url) else { return hop }
        let target = Self.target(hop.url)
        useNetrc(hop, origin)
        if answering[origin] == nil, let given, given.isRemembered, hop.sendsCredentials,
            hop.headers.value("Authorization") == nil,
            let (scheme, realm, isProven) = memory?.scheme(at: origin, for: given, target: target)
        {
            answering[origin] = Answering(
                scheme: scheme, credential: given, realm: realm, isFromMemory: true, isUnproven: !isProven)
        }
        guard let current = answering[origin], current.scheme.covers(target) else { return hop }
        // The exchange is back from another origin, which may have chosen the request.
        guard !current.isGiven || own(hop, origin) == current.credential else { return hop }
        hop.authorization = authorization(current, hop, target)
        if netrc != nil, current.isGiven, !hop.sendsCredentials { hop.netrcMachine = origin.host }
        return hop
    }

    /// Returns the login that the settings, or `.netrc`, have for a hop.
    private func own(_ hop: Hop, _ origin: Origin) -> ChallengeCredential? {
        if let netrc { return netrc.credential(hop, origin) }
        return hop.sendsCredentials ? given : nil
    }

    /// Prepares Basic with the login of `.netrc` before a challenge, as other tools do.
    ///
    /// Some servers answer a request without a login with a page instead of a challenge.
    private mutating func useNetrc(_ hop: Hop, _ origin: Origin) {
        guard netrc != nil else { return }
        let isOwn = hop.url == ownURL
        let isDirect = isFirst && !isOwn
        isFirst = false
        netrc?.note(origin, isAnew: hop.sendsCredentials && isOwn, isDirect: isDirect)
        guard answering[origin] == nil, let credential = own(hop, origin), credential.isAccount else { return }
        answering[origin] = Answering(
            scheme: .basic(folder: "/"), credential: credential, isFromMemory: true, isUnasked: true)
    }

    /// Handles a 401.
    ///
    /// - Returns: The report of the challenge, and whether the request is sent once more. `nil` means that no challenge
    ///   could be read.
    mutating func challenged(_ hop: Hop, _ head: ResponseHead) -> (AuthenticationReport, again: Bool)? {
        guard !isIdle, let origin = Origin(url: hop.url) else { return nil }
        let challenges = AuthenticationChallenge.all(in: head)
        let before = hop.authorization == nil ? nil : answering[origin]
        if let before, Self.isJudged(before, by: challenges), !Self.isStale(challenges, before) {
            // The credential was sent and refused: the 401 is the final answer.
            failures += 1
            if before.credential.isRemembered { memory?.forget(before.realm, at: origin, for: before.credential) }
            return refused(challenges, hop, head, origin)
        }
        let stale = before.map { $0.isFromMemory ? 0 : $0.stale + 1 } ?? 0
        guard stale <= Self.staleLimit,
            let (space, next) = answer(to: challenges, hop, origin, known: before?.credential)
        else {
            answering[origin] = nil
            return space(of: challenges, hop).map { (report($0, head, hop, nil), false) }
        }
        // The credential was sent before the server asked for it.
        if before?.isUnasked == true, case .basic = next.scheme {
            failures += 1
            return refused(challenges, hop, head, origin)
        }
        answering[origin] = next
        answering[origin]?.stale = stale
        if next.isGiven, next.credential.isRemembered {
            memory?.remember(
                next.scheme, realm: next.realm, at: origin, for: next.credential, target: Self.target(hop.url),
                isProven: false)
        }
        return (report(space, head, hop, next.credential), true)
    }

    /// Returns whether the 401 refuses the credential itself, and not only the form in which it was sent.
    private static func isJudged(_ before: Answering, by challenges: [AuthenticationChallenge]) -> Bool {
        !before.isFromMemory || before.isUnproven && challenges.contains { $0.realm == before.realm }
    }

    private mutating func refused(
        _ challenges: [AuthenticationChallenge], _ hop: Hop, _ head: ResponseHead, _ origin: Origin
    ) -> (AuthenticationReport, again: Bool)? {
        if answering[origin]?.isGiven == true { netrc?.refuse(at: origin) }
        answering[origin] = nil
        return space(of: challenges, hop).map { (report($0, head, hop, nil), false) }
    }

    /// Handles an answer other than 401: the server has accepted what was sent.
    mutating func accepted(_ hop: Hop, _ head: ResponseHead) {
        guard hop.authorization != nil, let origin = Origin(url: hop.url), var current = answering[origin] else {
            return
        }
        let renewed = renewed(current, by: head, at: origin)
        if let renewed {
            current.scheme = renewed
            answering[origin] = current
        }
        // Another exchange may meanwhile have replaced a remembered scheme by one with a newer nonce.
        guard current.credential.isRemembered, !current.isFromMemory || current.isUnproven || renewed != nil else {
            return
        }
        memory?.remember(
            current.scheme, realm: current.realm, at: origin, for: current.credential, target: Self.target(hop.url),
            isProven: true)
    }

    /// Returns the scheme with the nonce that the server wants from now on (RFC 7616 §3.5), or `nil` if it names none.
    private func renewed(_ current: Answering, by head: ResponseHead, at origin: Origin) -> AcceptedScheme? {
        guard case .digest(var digest, _) = current.scheme, let nonce = DigestAccess.nextNonce(head),
            nonce != digest.nonce
        else { return nil }
        digest.nonce = nonce
        return counted(.digest(digest, NonceCount()), at: origin, for: current.credential)
    }

    private func counted(
        _ scheme: AcceptedScheme, at origin: Origin, for credential: ChallengeCredential
    ) -> AcceptedScheme {
        guard case .digest(let digest, _) = scheme, let memory, credential.isRemembered else { return scheme }
        return .digest(digest, memory.count(of: digest.nonce, at: origin, for: credential))
    }

    // MARK: Choosing

    /// Returns the strongest challenge that can be answered, with its answer.
    private func answer(
        to challenges: [AuthenticationChallenge], _ hop: Hop, _ origin: Origin, known: ChallengeCredential?
    ) -> (AuthenticationSpace, Answering)? {
        for candidate in Self.candidates(challenges, target: Self.target(hop.url)) {
            let space = AuthenticationSpace(origin: origin, realm: candidate.realm, method: candidate.method)
            let given = known == nil ? own(hop, origin) : nil
            guard let credential = known ?? given ?? ask?(space) else { continue }
            // Without a user name only the ticket of the user that runs the program counts.
            guard credential.isAccount || candidate.method == .negotiate else { continue }
            let next = Answering(
                scheme: counted(candidate.scheme, at: origin, for: credential), credential: credential,
                realm: candidate.realm, isFromMemory: false,
                isGiven: known == nil ? given != nil : answering[origin]?.isGiven ?? true)
            guard authorization(next, hop, Self.target(hop.url), count: 1) != nil else { continue }
            return (space, next)
        }
        return nil
    }

    private func space(of challenges: [AuthenticationChallenge], _ hop: Hop) -> AuthenticationSpace? {
        guard let origin = Origin(url: hop.url) else { return nil }
        return Self.candidates(challenges, target: Self.target(hop.url)).first.map {
            AuthenticationSpace(origin: origin, realm: $0.realm, method: $0.method)
        }
    }

    private func report(
        _ space: AuthenticationSpace, _ head: ResponseHead, _ hop: Hop, _ credential: ChallengeCredential?
    ) -> AuthenticationReport {
        AuthenticationReport(space: space, head: head, url: hop.url, credential: credential, failures: failures)
    }

    private struct Candidate {
        let scheme: AcceptedScheme
        let method: AuthenticationSpace.Method
        let realm: String?
        let strength: Int
    }

    /// Returns the candidates, the strongest first. Among equals the server's order counts (RFC 7616 §3.7).
    private static func candidates(_ challenges: [AuthenticationChallenge], target: String) -> [Candidate] {
        let all = challenges.compactMap { challenge -> Candidate? in
            switch challenge.scheme {
            case "digest":
                guard let digest = DigestAccess(challenge) else { return nil }
                return Candidate(
                    scheme: .digest(digest, NonceCount()), method: .digest, realm: challenge.realm,
                    strength: 10 + digest.strength)
            case "ntlm":
                return Candidate(scheme: .connection(.ntlm), method: .ntlm, realm: nil, strength: 5)
            case "basic":
                return Candidate(
                    scheme: .basic(folder: folder(of: target)), method: .basic, realm: challenge.realm, strength: 3)
            // Negotiate ranks last when there are a name and a password: its tickets belong to the user that runs the
            // program.
            case "negotiate":
                return Candidate(scheme: .connection(.negotiate), method: .negotiate, realm: nil, strength: 1)
            default: return nil
            }
        }
        return all.enumerated().sorted { ($1.element.strength, $0.offset) < ($0.element.strength, $1.offset) }
            .map(\.element)
    }

    private static func isStale(_ challenges: [AuthenticationChallenge], _ before: Answering) -> Bool {
        guard case .digest = before.scheme else { return false }
        return challenges.contains {
            $0.scheme == "digest" && $0.realm == before.realm && $0.parameters["stale"]?.lowercased() == "true"
        }
    }

    // MARK: Answering

    /// Returns the authorisation of a hop.
    ///
    /// - Parameter count: The nonce count of a trial. Without it the request is counted.
    private func authorization(
        _ current: Answering, _ hop: Hop, _ target: String, count trial: UInt32? = nil
    ) -> Hop.Authorization? {
        let credential = current.credential
        switch current.scheme {
        case .connection(let scheme): return .connection(scheme, credential)
        case .basic:
            return BasicAccess.authorization(user: credential.user, password: credential.password).map { .field($0) }
        case .digest(let digest, let count):
            let message = DigestAccess.Message(method: hop.method, target: target, body: bytes(hop))
            return digest.authorization(
                user: credential.user, password: credential.password, for: message, count: trial ?? count.next(),
                clientNonce: makeNonce()
            ).map { .field($0) }
        }
    }

    private func bytes(_ hop: Hop) -> [UInt8]? {
        guard hop.sendsBody else { return [] }
        if case .bytes(let bytes) = body { return bytes }
        return nil
    }

    /// Returns the path and the query of a URL, as libcurl sends them.
    static func target(_ url: String) -> String {
        guard let scheme = url.utf8.firstIndex(of: UInt8(ascii: ":")) else { return "/" }
        let rest = url[scheme...].dropFirst(3)
        guard let start = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        let target = String(rest[start...].prefix { $0 != "#" })
        return target.hasPrefix("/") ? target : "/" + target
    }

    /// Returns the path of a request target up to its last slash.
    static func folder(of target: String) -> String {
        let path = target.prefix { $0 != "?" }
        return String(path[...(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    static let randomNonce: @Sendable () -> String = {
        var generator = SystemRandomNumberGenerator()
        return String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
    }
}

/// The handling of an exchange's challenges, beside the credentials of its settings.
public struct ExchangeAuthentication: Sendable {
    /// The memory that keeps accepted schemes for later exchanges.
    public var memory: AuthenticationMemory?
    /// Whether the password of the settings may be sent to the same protection space later without a challenge.
    public var remembers = false
    /// The function that is asked for a credential where the settings have none for the origin of a challenge.
    ///
    /// The closure is called on the exchange's loop, so it must return quickly.
    public var ask: (@Sendable (AuthenticationSpace) -> ChallengeCredential?)?

    /// Creates a handling without a memory, which asks for no credentials.
    public init() {}
}
