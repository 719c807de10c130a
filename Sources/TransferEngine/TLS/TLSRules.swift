import Synchronization
import TransferCore
public import TransferCrypto

/// Rules that say which servers are trusted, and which certificate is shown to them.
///
/// Compared by identity: exchanges with other rules never share a connection, nor a TLS session, even where both would
/// come to the same verdict.
public final class TLSRules: Sendable, Hashable {
    /// Judges a server before a byte of a request is sent to it.
    ///
    /// - Throws: Why it's refused: a `TransferError` as it is, another error as ``ExchangeOutcome/refusal``.
    public typealias Check = @Sendable (ServerTrust) throws -> Void

    /// Trusts whom the system trusts.
    public static let system = TLSRules()

    /// The system's are read when the first server is judged: a program that never speaks TLS has no use for them.
    var anchors: TrustAnchors { given ?? .system }
    private let given: TrustAnchors?
    let judgement: Judgement
    let identities: ClientIdentities

    enum Judgement: Sendable {
        /// At once, by the chain and the name in the certificate.
        case chain(pins: Set<String>)
        /// By somebody who may take long, while the handshake of this one connection waits.
        case check(Check)
    }

    /// - Parameters:
    ///   - anchors: The only authorities to trust; `nil` for the system's.
    ///   - pins: `sha256/BASE64` of public keys (SPKI), one of which the verified chain must have; none asks for none.
    ///   - identities: For servers that ask for a certificate.
    public init(
        anchors: TrustAnchors? = nil, pins: Set<String> = [], identities: ClientIdentities = ClientIdentities()
    ) {
        given = anchors
        judgement = .chain(pins: pins)
        self.identities = identities
    }

    /// - Parameters:
    ///   - anchors: What `ServerTrust.evaluate` starts from; `nil` for the system's.
    ///   - check: Called on a thread of its own, and may block; the time to connect bounds it. A server that offers a
    ///     stapled OCSP answer is asked for it.
    public init(
        anchors: TrustAnchors? = nil, identities: ClientIdentities = ClientIdentities(), check: @escaping Check
    ) {
        given = anchors
        judgement = .check(check)
        self.identities = identities
    }

    public static func == (left: TLSRules, right: TLSRules) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The rule that needs nobody: a chain to an authority, the host's name, one of the pinned keys.
    ///
    /// - Throws: `TransferError` with the code `certificateRefused`.
    static func judge(_ trust: ServerTrust, pins: Set<String>) throws(TransferError) {
        switch trust.evaluate() {
        case .failure(let failure): throw TransferError(failure)
        case .success(let chain):
            guard pins.isEmpty || chain.contains(where: { pins.contains($0.publicKey.pin) }) else {
                throw TransferError(
                    .certificateRefused,
                    "certificate of \(trust.host) refused: none of its chain's public keys is a pinned one")
            }
        }
    }
}
