import Synchronization
import TransferCore

/// What protection spaces asked for and took, so that later requests with the same credential needn't be challenged.
///
/// One belongs to one session: credentials never cross it.
public final class AuthenticationMemory: Sendable {
    /// A credential at an origin.
    struct Key: Sendable, Hashable {
        let origin: Origin
        let credential: ChallengeCredential
    }

    private static let limit = 256
    private let known = Mutex<[Key: AcceptedScheme]>([:])

    public init() {}

    func scheme(at origin: Origin, for credential: ChallengeCredential) -> AcceptedScheme? {
        known.withLock { $0[Key(origin: origin, credential: credential)] }
    }

    func remember(_ scheme: AcceptedScheme, at origin: Origin, for credential: ChallengeCredential) {
        known.withLock { known in
            // Forgotten spaces are challenged again: nothing is lost but a round trip.
            if known.count >= Self.limit { known.removeAll() }
            known[Key(origin: origin, credential: credential)] = scheme
        }
    }

    func forget(at origin: Origin, for credential: ChallengeCredential) {
        known.withLock { $0[Key(origin: origin, credential: credential)] = nil }
    }
}

/// A name and a password.
public struct ChallengeCredential: Sendable, Hashable, CustomStringConvertible {
    public let user: String
    public let password: String
    /// Whether later exchanges with the same memory may send it without a new challenge.
    public let isRemembered: Bool

    public init(user: String, password: String, isRemembered: Bool = true) {
        self.user = user
        self.password = password
        self.isRemembered = isRemembered
    }

    /// Without the password.
    public var description: String { "\(user):\(Redaction.mark)" }
}

/// How a challenge is answered.
enum AcceptedScheme: Sendable {
    /// RFC 7617 §2.2: for what lies as deep as the path that was challenged, or deeper.
    case basic(folder: String)
    /// RFC 7616 §3.3: for the whole origin.
    case digest(DigestAccess, NonceCount)
    /// By libcurl, whose legs are bound to a connection.
    case connection(ConnectionScheme)

    func covers(_ target: String) -> Bool {
        if case .basic(let folder) = self { return target.hasPrefix(folder) }
        return true
    }
}

/// Schemes that authenticate a connection and not a request (RFC 4559; MS-NTHT).
enum ConnectionScheme: Sendable, Hashable {
    case ntlm, negotiate
}

/// How many requests were authorised with a nonce; several may be at it.
final class NonceCount: Sendable {
    private let count = Atomic<UInt32>(0)
    func next() -> UInt32 { count.add(1, ordering: .relaxed).newValue }
}
