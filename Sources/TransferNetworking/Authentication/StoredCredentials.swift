import Foundation
import FoundationNetworking
import TransferCore
import TransferEngine

/// The look-up of default credentials in a program's storage.
///
/// `@unchecked Sendable`: Foundation's storage has a lock of its own.
struct StoredCredentials: @unchecked Sendable {
    let storage: URLCredentialStorage

    func credential(for space: AuthenticationSpace) -> ChallengeCredential? {
        let wanted = URLProtectionSpace(space)
        guard let found = storage.defaultCredential(for: wanted) ?? search(wanted), let user = found.user,
            let password = found.password
        else { return nil }
        return ChallengeCredential(user: user, password: password, isRemembered: false)
    }

    /// Searches the storage's own protection spaces, as Foundation on Linux finds no two equal spaces equal.
    private func search(_ wanted: URLProtectionSpace) -> URLCredential? {
        for (space, credentials) in storage.allCredentials where space.covers(wanted) {
            if let chosen = storage.defaultCredential(for: space) { return chosen }
            if credentials.count == 1 { return credentials.values.first }
        }
        return nil
    }
}

extension URLProtectionSpace {
    convenience init(_ space: AuthenticationSpace) {
        let method =
            switch space.method {
            case .basic: NSURLAuthenticationMethodHTTPBasic
            case .digest: NSURLAuthenticationMethodHTTPDigest
            case .ntlm: NSURLAuthenticationMethodNTLM
            case .negotiate: NSURLAuthenticationMethodNegotiate
            }
        self.init(
            host: space.origin.host, port: space.origin.port, protocol: space.origin.scheme, realm: space.realm,
            authenticationMethod: method)
    }

    /// Whether a credential for this space may be sent to the other space: everything that this space names has to be
    /// the same.
    fileprivate func covers(_ other: URLProtectionSpace) -> Bool {
        guard !isProxy(), HostName.comparable(host) == other.host, port == other.port,
            self.protocol?.lowercased() == other.protocol
        else { return false }
        let isAnyMethod = authenticationMethod == NSURLAuthenticationMethodDefault
        return (realm == nil || realm == other.realm)
            && (isAnyMethod || authenticationMethod == other.authenticationMethod)
    }
}

extension URLAuthenticationChallenge {
    /// A challenge for event monitors; its sender does nothing, as the request answers automatically.
    convenience init(_ report: AuthenticationReport) {
        let proposed = report.credential.map {
            URLCredential(user: $0.user, password: $0.password, persistence: $0.isRemembered ? .forSession : .none)
        }
        self.init(
            protectionSpace: URLProtectionSpace(report.space), proposedCredential: proposed,
            previousFailureCount: report.failures,
            failureResponse: HTTPURLResponse.make(report.head, url: report.url, version: 0), error: nil,
            sender: SilentSender())
    }

    private final class SilentSender: NSObject, URLAuthenticationChallengeSender {
        func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
        func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
        func cancel(_ challenge: URLAuthenticationChallenge) {}
        func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
        func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
    }
}
