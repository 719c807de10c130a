import Foundation
import Glibc
import TransferCrypto
import TransferTestSupport

@testable import TransferNetworking

/// Makes a server's certificates in an evaluator's form, without a connection.
func makeTrust(
    _ issued: TestAuthority.Issued, host: String = "localhost", anchors: String? = nil, stapled: String? = nil
) async throws -> SecTrust {
    let shared = try await TestAuthority.shared().anchors
    let anchors = try TrustAnchors(pemFile: anchors ?? shared)
    return ServerTrust(
        chain: try Certificate.certificates(atPath: issued.chain), host: host, anchors: anchors,
        ocspResponse: try stapled.map { [UInt8](try Data(contentsOf: URL(fileURLWithPath: $0))) })
}

func certificate(_ path: String) throws -> SecCertificate { try Certificate.certificates(atPath: path)[0] }

extension ServerTrustEvaluating {
    /// Returns the reason of the refusal; `nil` if the server was accepted.
    func refusal(of trust: SecTrust, host: String = "localhost") throws -> AFError.ServerTrustFailureReason? {
        do {
            try evaluate(trust, forHost: host)
            return nil
        } catch AFError.serverTrustEvaluationFailed(let reason) {
            return reason
        }
    }
}

extension AFError.ServerTrustFailureReason {
    /// The name of the case.
    var label: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }

    /// The reason why the certificates were refused.
    var failure: TrustFailure? {
        if case .trustEvaluationFailed(let failure as TrustFailure) = self { failure } else { nil }
    }
}
