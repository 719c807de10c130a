import Synchronization
import TransferCore

/// The schemes that protection spaces have accepted, so that later requests with the same credential need no challenge.
///
/// A memory belongs to one session: credentials never cross sessions.
public final class AuthenticationMemory: Sendable {
    /// A credential at an origin.
    struct Key: Sendable, Hashable {
        let origin: Origin
        let credential: ChallengeCredential
    }

    /// A protection space, and the scheme that opened it last (RFC 9110 §11.5).
    private struct Known: Sendable {
        let realm: String?
        /// The folder that selects the space of a request, where an origin has several. Digest covers the whole origin.
        let folder: String
        var scheme: AcceptedScheme
        /// Whether a server has accepted the scheme, and not only asked for it.
        var isProven: Bool

        func depth(of target: String) -> Int { target.hasPrefix(folder) ? folder.utf8.count : -1 }

        var isBasic: Bool {
            if case .basic = scheme { return true }
            return false
        }
    }

    private struct Nonce: Hashable {
        let key: Key
        let value: String
    }

    private struct State {
        var spaces: [Key: [Known]] = [:]
        var counts: [Nonce: NonceCount] = [:]
    }

    private static let limit = 256
    private let state = Mutex(State())

    /// Creates an empty memory.
    public init() {}

    /// Returns the scheme of the nearest space that covers a target.
    func scheme(at origin: Origin, for credential: ChallengeCredential, target: String) -> (
        AcceptedScheme, realm: String?, isProven: Bool
    )? {
        state.withLock { state in
            let covering = (state.spaces[Key(origin: origin, credential: credential)] ?? []).filter {
                $0.scheme.covers(target)
            }
            return covering.max { $0.depth(of: target) < $1.depth(of: target) }.map {
                ($0.scheme, $0.realm, $0.isProven)
            }
        }
    }

    /// Remembers the scheme of a protection space.
    ///
    /// - Parameters:
    ///   - target: The target of the request that was answered.
    ///   - isProven: Whether the server accepted the answer. A scheme that was only asked for spares concurrent
    ///     requests a challenge.
    func remember(
        _ scheme: AcceptedScheme, realm: String?, at origin: Origin, for credential: ChallengeCredential,
        target: String, isProven: Bool
    ) {
        let key = Key(origin: origin, credential: credential)
        state.withLock { state in
            // Forgotten spaces are challenged again: only a round trip is lost.
            if state.spaces[key] == nil, state.spaces.count >= Self.limit { state.spaces.removeAll() }
            var spaces = state.spaces[key] ?? []
            if spaces.count >= Self.limit { spaces.removeAll() }
            let wasProven = spaces.contains { $0.realm == realm && $0.isProven }
            Self.add(scheme, realm, AuthenticationFlow.folder(of: target), isProven || wasProven, to: &spaces)
            state.spaces[key] = spaces
        }
    }

    private static func add(
        _ scheme: AcceptedScheme, _ realm: String?, _ folder: String, _ isProven: Bool, to spaces: inout [Known]
    ) {
        // A folder belongs to the space that asked there last.
        spaces.removeAll { $0.folder == folder && $0.realm != realm }
        guard case .basic = scheme else {
            for index in spaces.indices where spaces[index].realm == realm && !spaces[index].isBasic {
                spaces[index].scheme = scheme
                spaces[index].isProven = isProven
            }
            spaces.removeAll { $0.realm == realm && $0.folder.hasPrefix(folder) }
            return spaces.append(Known(realm: realm, folder: folder, scheme: scheme, isProven: isProven))
        }
        // Two folders with one realm are one space (RFC 9110 §11.5): a tree is not challenged once for each folder.
        let common = spaces.filter { $0.realm == realm && $0.isBasic }.reduce(folder) {
            AuthenticationFlow.folder(of: $0.commonPrefix(with: $1.folder))
        }
        spaces.removeAll { $0.realm == realm && $0.isBasic }
        spaces.append(Known(realm: realm, folder: common, scheme: .basic(folder: common), isProven: isProven))
    }

    func forget(_ realm: String?, at origin: Origin, for credential: ChallengeCredential) {
        let key = Key(origin: origin, credential: credential)
        state.withLock { state in
            state.spaces[key]?.removeAll { $0.realm == realm }
            if state.spaces[key]?.isEmpty ?? false { state.spaces[key] = nil }
        }
    }

    /// Returns the counter of the requests that were authorised with a nonce. Several requests may share a nonce.
    func count(of nonce: String, at origin: Origin, for credential: ChallengeCredential) -> NonceCount {
        state.withLock { state in
            let nonce = Nonce(key: Key(origin: origin, credential: credential), value: nonce)
            if let count = state.counts[nonce] { return count }
            // Counters in use stay alive: their exchanges and the spaces hold them.
            if state.counts.count >= Self.limit { state.counts.removeAll() }
            let count = NonceCount()
            state.counts[nonce] = count
            return count
        }
    }
}

extension String {
    /// Returns the common beginning, compared by bytes as paths are.
    fileprivate func commonPrefix(with other: String) -> String {
        let length = zip(utf8, other.utf8).prefix { $0 == $1 }.count
        return String(decoding: utf8.prefix(length), as: UTF8.self)
    }
}

/// A name and a password.
public struct ChallengeCredential: Sendable, Hashable, CustomStringConvertible {
    /// The user's name; it may be empty.
    public let user: String
    /// The password; it may be empty.
    public let password: String
    /// Whether later exchanges with the same memory may send the credential without a new challenge.
    public let isRemembered: Bool

    /// Creates a credential.
    public init(user: String, password: String, isRemembered: Bool = true) {
        self.user = user
        self.password = password
        self.isRemembered = isRemembered
    }

    /// Whether the credential has a name or a password. Services whose password is a token have no user name.
    ///
    /// Without either, only the ticket of the user that runs the program could count.
    var isAccount: Bool { !user.isEmpty || !password.isEmpty }

    /// The user's name with the password redacted.
    public var description: String { "\(user):\(Redaction.mark)" }
}

/// The form in which a challenge is answered.
enum AcceptedScheme: Sendable {
    /// RFC 7617 §2.2: the scheme covers paths as deep as the challenged one, or deeper.
    case basic(folder: String)
    /// RFC 7616 §3.3: the scheme covers the whole origin.
    case digest(DigestAccess, NonceCount)
    /// A scheme of libcurl, whose steps are bound to a connection.
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

/// The number of requests that were authorised with a nonce. Several exchanges may count at the same time.
final class NonceCount: Sendable {
    private let count = Atomic<UInt32>(0)
    func next() -> UInt32 { count.add(1, ordering: .relaxed).newValue }
}
