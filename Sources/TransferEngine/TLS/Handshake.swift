import CTransferOpenSSL
import TransferCore
import TransferCrypto

/// The judgement of a server during a TLS handshake, from the moment its connection is made.
///
/// Only the loop of its exchange uses it.
final class Handshake {
    let rules: TLSRules
    let host: String
    private let raw: UnsafeMutablePointer<transfer_handshake>
    /// The reason why the server was refused.
    private(set) var refusal: (any Error)?

    /// Begins to judge the server of a connection.
    ///
    /// - Parameters:
    ///   - context: OpenSSL's context of this one connection.
    ///   - owner: The exchange that uses the connection.
    ///   - mayWait: Whether the handshake may be suspended for the judgement. For the data connections of FTP it may
    ///     not: libcurl would call it repeatedly, and continue nothing else.
    /// - Throws: `TransferError` when OpenSSL has no memory, or the client's certificate is unusable.
    init(
        _ rules: TLSRules, host: String, context: OpaquePointer, questions: HandshakeQuestions, owner: ActiveExchange,
        mayWait: Bool
    ) throws(TransferError) {
        guard let raw = transfer_handshake_new() else {
            throw TransferError(.internalFault, "OpenSSL has no memory for another connection")
        }
        self.rules = rules
        self.host = host
        self.raw = raw
        raw.pointee.list = questions.list
        raw.pointee.owner = Unmanaged.passUnretained(owner).toOpaque()
        switch rules.judgement {
        case .chain: raw.pointee.judge = Self.judge
        case .check where mayWait: raw.pointee.judge = Self.judge
        case .check: raw.pointee.wants_staple = 1
        }
        guard transfer_handshake_install(context, raw, Self.index) == 1 else {
            throw TransferError(.internalFault, "OpenSSL took no verification of servers")
        }
        if let identity = rules.identities[host] { try show(identity, context) }
    }

    deinit { transfer_handshake_release(raw) }

    /// Whether the handshake waits for a verdict.
    var isAsked: Bool { raw.pointee.verdict == TRANSFER_ASKED }

    /// Whether the handshake is still suspended, on its own stack, where it asked for a verdict.
    var isOpen: Bool { raw.pointee.ssl != nil }

    func isSame(_ other: UnsafeMutablePointer<transfer_handshake>) -> Bool { raw == other }

    /// Returns the server to be judged; only while the handshake asks.
    func trust() -> ServerTrust {
        let chain = (0..<transfer_handshake_count(raw)).compactMap { index in
            transfer_handshake_certificate(raw, index).map { Certificate(retaining: $0) }
        }
        var bytes: UnsafePointer<UInt8>?
        let length = transfer_handshake_staple(raw, &bytes)
        return ServerTrust(
            chain: chain, host: host, anchors: rules.anchors,
            ocspResponse: length > 0 ? Array(UnsafeBufferPointer(start: bytes, count: length)) : nil)
    }

    /// Sets the verdict.
    ///
    /// - Parameter refusal: The reason of a refusal; `nil` accepts the server.
    func settle(_ refusal: (any Error)?) {
        guard isAsked else { return }
        self.refusal = refusal
        raw.pointee.error = refusal == nil ? X509_V_OK : X509_V_ERR_APPLICATION_VERIFICATION
        raw.pointee.verdict = refusal == nil ? TRANSFER_ACCEPTED : TRANSFER_REFUSED
    }

    private func show(_ identity: ClientIdentity, _ context: OpaquePointer) throws(TransferError) {
        guard identity.withPointers({ transfer_context_use_identity(context, $0, $1) }) == 1,
            identity.chain.allSatisfy({ $0.withPointer { transfer_context_add_chain(context, $0) } == 1 })
        else {
            throw TransferError(.secureConnectionFailed, "OpenSSL refused the client certificate for \(host)")
        }
    }

    /// Judges within the handshake, which then uses the stack of the loop's thread.
    private static let judge: @convention(c) (UnsafeMutablePointer<transfer_handshake>?) -> Void = { raw in
        guard let raw, let owner = raw.pointee.owner else { return }
        let exchange = Unmanaged<ActiveExchange>.fromOpaque(owner).takeUnretainedValue()
        guard let handshake = exchange.connection.handshake, handshake.isSame(raw) else { return }
        do {
            switch handshake.rules.judgement {
            case .chain(let pins): try TLSRules.judge(handshake.trust(), pins: pins)
            case .check(let check): try check(handshake.trust())
            }
            handshake.settle(nil)
        } catch {
            handshake.settle(error)
            if case .check = handshake.rules.judgement { exchange.connection.refusal = error }
            exchange.stopReason = .failed(.refusal(error, of: handshake.host))
        }
    }

    static let index = transfer_handshake_index()

    static func limitToTLS12(_ context: OpaquePointer) -> Bool { transfer_context_limit_to_tls12(context) == 1 }

    /// Returns whether a context is for a proxy.
    ///
    /// The options set this as the newest version for a proxy; the context for the host has no bound.
    static func isForProxy(_ context: OpaquePointer) -> Bool { transfer_context_max_version(context) != 0 }
}

extension TransferError {
    /// Returns the error of a check that refused a server.
    static func refusal(_ error: any Error, of host: String) -> TransferError {
        error as? TransferError ?? TransferError(.certificateRefused, "certificate of \(host) refused: \(error)")
    }
}
