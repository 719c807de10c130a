import Synchronization
import TransferCore
public import TransferCrypto

/// The rules by which servers are trusted, and certificates are shown to them.
///
/// Rules are compared by identity. Exchanges with different rules never share a connection or a TLS session, even where
/// both would come to the same verdict.
public final class TLSRules: Sendable, Hashable {
    /// A closure that judges a server before a byte of a request is sent to it.
    ///
    /// - Throws: The reason of a refusal. A `TransferError` fails the exchange as it is; another error becomes
    ///   ``ExchangeOutcome/refusal``.
    public typealias Check = @Sendable (ServerTrust) throws -> Void

    /// The rules that trust the system's authorities.
    public static let system = TLSRules()

    /// The authorities. The system's are read when the first server is judged, so that a program without TLS never
    /// reads them.
    var anchors: TrustAnchors { given ?? .system }
    private let given: TrustAnchors?
    let judgement: Judgement
    let identities: ClientIdentities

    enum Judgement: Sendable {
        /// The server is judged at once, by the chain and the name in the certificate.
        case chain(pins: Set<String>)
        /// A check decides on a thread that may block, while this handshake waits.
        case check(Check)
    }

    /// Creates rules that judge by the chain.
    ///
    /// - Parameters:
    ///   - anchors: The only authorities to trust; `nil` for the system's.
    ///   - pins: The pins `sha256/BASE64` of public keys (SPKI), one of which the verified chain must have; an empty
    ///     set requires none.
    ///   - identities: The certificates for servers that ask for one.
    public init(
        anchors: TrustAnchors? = nil, pins: Set<String> = [], identities: ClientIdentities = ClientIdentities()
    ) {
        given = anchors
        judgement = .chain(pins: pins)
        self.identities = identities
    }

    /// Creates rules with a check of the program's own.
    ///
    /// - Parameters:
    ///   - anchors: The authorities for `ServerTrust.evaluate`; `nil` for the system's.
    ///   - check: A closure that is called on a separate thread, and may block; the time to connect bounds it. The
    ///     server is asked for a stapled OCSP answer.
    public init(
        anchors: TrustAnchors? = nil, identities: ClientIdentities = ClientIdentities(), check: @escaping Check
    ) {
        given = anchors
        judgement = .check(check)
        self.identities = identities
    }

    public static func == (left: TLSRules, right: TLSRules) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// Judges a server without a check of the program's own.
    ///
    /// The server needs a chain to an authority, the host's name, and one of the pinned keys.
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
