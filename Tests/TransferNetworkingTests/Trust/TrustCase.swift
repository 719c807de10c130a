import Foundation
import Testing
import TransferCrypto
import TransferNetworking
import TransferTestSupport

/// A server with a certificate, and the expected verdict of a session with its own rules.
struct TrustCase: Sendable, CustomTestStringConvertible {
    let name: String
    /// The reason of the refusal; `nil` if the server is accepted.
    let refusal: String?
    let make: @Sendable (TestAuthority) async throws -> Peer

    struct Peer: Sendable {
        var issued: TestAuthority.Issued
        var evaluator: any ServerTrustEvaluating
        /// Directives for nginx.
        var directives = ""
        /// Runs as long as the case.
        var responder: OCSPResponder?
        /// The authority, whose files are needed as long as the case.
        var authority: TestAuthority?
    }

    var testDescription: String { name }

    init(_ name: String, refusal: String? = nil, _ make: @escaping @Sendable (TestAuthority) async throws -> Peer) {
        self.name = name
        self.refusal = refusal
        self.make = make
    }

    /// A certificate that differs from a good one, judged as usual.
    private static func plain(
        _ name: String, refusal: String? = nil,
        _ change: @escaping @Sendable (inout TestAuthority.Order) -> Void = { _ in }
    ) -> TrustCase {
        TrustCase(name, refusal: refusal) { authority in
            Peer(issued: try await authority.issue(change), evaluator: DefaultTrustEvaluator())
        }
    }

    private static func certificates(_ path: String) throws -> [SecCertificate] {
        try Certificate.certificates(atPath: path)
    }

    private static func keys(_ path: String) throws -> [SecKey] { try certificates(path).map(\.publicKey) }

    static let all: [TrustCase] = [
        plain("good"),
        plain("expired", refusal: "trustEvaluationFailed expired") {
            $0.validFrom = -3
            $0.validUntil = -1
        },
        plain("not yet valid", refusal: "trustEvaluationFailed notYetValid") {
            $0.validFrom = 1
            $0.validUntil = 3
        },
        plain("for another host", refusal: "trustEvaluationFailed wrongHost") {
            $0.alternativeNames = ["DNS:other.example"]
        },
        plain("self-signed", refusal: "trustEvaluationFailed selfSigned") { $0.signer = .itself },
        TrustCase("of an unknown authority", refusal: "trustEvaluationFailed unknownAuthority") { _ in
            let stranger = try await TestAuthority.make(name: "Stranger")
            return Peer(
                issued: try await stranger.issue(), evaluator: DefaultTrustEvaluator(), authority: stranger)
        },
        plain("without its intermediate", refusal: "trustEvaluationFailed unknownAuthority") {
            $0.sendsIntermediate = false
        },
        TrustCase("revoked, says the responder", refusal: "trustEvaluationFailed revoked") { authority in
            try await asked(authority, isRevoked: true)
        },
        TrustCase("good, says the responder") { authority in try await asked(authority, isRevoked: false) },
        TrustCase("revoked, says the stapled answer", refusal: "trustEvaluationFailed revoked") { authority in
            try await stapled(authority, isRevoked: true)
        },
        TrustCase("good, says the stapled answer") { authority in try await stapled(authority, isRevoked: false) },
        TrustCase("revoked, says the list", refusal: "trustEvaluationFailed revoked") { authority in
            let issued = try await authority.issue()
            let path = try await authority.revocationList(revoked: [issued.serial])
            var sources = RevocationSources()
            sources.lists = [try RevocationList(der: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))]
            return Peer(issued: issued, evaluator: RevocationTrustEvaluator(options: .crl, sources: sources))
        },
        TrustCase("pinned leaf") { authority in
            let issued = try await authority.issue()
            let pins = try certificates(issued.certificate)
            return Peer(issued: issued, evaluator: PinnedCertificatesTrustEvaluator(certificates: pins))
        },
        TrustCase("pinned leaf that signs itself") { authority in
            let issued = try await authority.issue { $0.signer = .itself }
            let pins = try certificates(issued.certificate)
            return Peer(
                issued: issued,
                evaluator: PinnedCertificatesTrustEvaluator(certificates: pins, acceptSelfSignedCertificates: true))
        },
        TrustCase("pinned intermediate") { authority in
            let pins = try certificates(authority.intermediate.certificate)
            return Peer(
                issued: try await authority.issue(), evaluator: PinnedCertificatesTrustEvaluator(certificates: pins))
        },
        TrustCase("pinned key of a renewed certificate") { authority in
            let old = try await authority.issue()
            return Peer(
                issued: try await authority.issue { $0.key = old.key },
                evaluator: PublicKeysTrustEvaluator(keys: try keys(old.certificate)))
        },
        TrustCase("another pinned certificate", refusal: "certificatePinningFailed") { authority in
            let pins = try certificates(try await authority.issue().certificate)
            return Peer(
                issued: try await authority.issue(), evaluator: PinnedCertificatesTrustEvaluator(certificates: pins))
        },
        TrustCase("another pinned key", refusal: "publicKeyPinningFailed") { authority in
            let pins = try keys(try await authority.issue().certificate)
            return Peer(issued: try await authority.issue(), evaluator: PublicKeysTrustEvaluator(keys: pins))
        },
    ]

    private static func asked(_ authority: TestAuthority, isRevoked: Bool) async throws -> Peer {
        let serial = TestAuthority.newSerial()
        let responder = try await authority.startResponder(
            .init(good: isRevoked ? [] : [serial], revoked: isRevoked ? [serial] : []))
        let issued = try await authority.issue {
            $0.serial = serial
            $0.ocspURL = responder.url
        }
        // No responder answers for the intermediate, so a positive answer cannot be required.
        return Peer(issued: issued, evaluator: RevocationTrustEvaluator(options: .ocsp), responder: responder)
    }

    private static func stapled(_ authority: TestAuthority, isRevoked: Bool) async throws -> Peer {
        let issued = try await authority.issue()
        let answer = try await authority.ocspAnswer(
            about: issued, .init(good: isRevoked ? [] : [issued.serial], revoked: isRevoked ? [issued.serial] : []))
        return Peer(
            issued: issued, evaluator: RevocationTrustEvaluator(options: [.ocsp, .networkAccessDisabled]),
            directives: "ssl_stapling on; ssl_stapling_file \"\(answer)\";")
    }
}

extension AFError.ServerTrustFailureReason {
    /// The case, with the kind of its failure.
    var short: String {
        switch self {
        case .trustEvaluationFailed(let failure as TrustFailure): "trustEvaluationFailed \(failure.kind)"
        case .certificatePinningFailed: "certificatePinningFailed"
        case .publicKeyPinningFailed: "publicKeyPinningFailed"
        case .noRequiredEvaluator: "noRequiredEvaluator"
        case .customEvaluationFailed: "customEvaluationFailed"
        default: "\(self)"
        }
    }
}
