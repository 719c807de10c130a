import Foundation
public import FoundationNetworking
import TransferEngine

extension Request {
    /// Answers challenges (401) of the request's origin with a name and a password, by the strongest scheme that the
    /// server offers: Digest (RFC 7616), NTLM, Basic (RFC 7617), Negotiate (RFC 4559).
    ///
    /// Nothing is sent before the server asks, and nothing to another origin that a redirect leads to. Where the
    /// credential is refused, the request ends with the 401 answer, which `validate()` turns into a failure.
    ///
    /// - Parameters:
    ///   - username: Empty stands for the Kerberos ticket of whoever runs the program, and for Negotiate only.
    ///   - persistence: With `.none` each request waits to be asked; else later requests of the session with the same
    ///     credential to the same protection space are authorised at once. Nothing is kept beyond the session.
    @discardableResult
    public func authenticate(
        username: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self { authenticate(with: URLCredential(user: username, password: password, persistence: persistence)) }

    /// Answers challenges of the request's origin with a credential; the last one set counts.
    ///
    /// - Parameter credential: One with a name and a password; any other is of no use to HTTP's schemes.
    @discardableResult
    public func authenticate(with credential: URLCredential) -> Self {
        let user = credential.user
        let password = credential.password
        guard let user, let password else { return self }
        let given = ChallengeCredential(
            user: user, password: password, isRemembered: credential.persistence != .none)
        update { $0.own.credential = .init(given: credential, challenge: given) }
        return self
    }

    /// The same as ``authenticate(with:)``.
    @discardableResult
    public func authenticate(using credential: URLCredential) -> Self { authenticate(with: credential) }

    /// Gives an exchange what it authenticates itself with.
    func authenticate(_ exchange: inout ExchangeRequest) {
        if let credential = read({ $0.own.credential?.challenge }) {
            exchange.settings.credentials = .password(user: credential.user, password: credential.password)
            exchange.authentication.remembers = credential.isRemembered
            exchange.authentication.memory = session.authenticationMemory
        }
        guard let storage = session.settings.credentialStorage else { return }
        // The shared one is what every configuration has: mostly nobody has put anything there.
        if storage === URLCredentialStorage.shared, storage.allCredentials.isEmpty { return }
        let source = StoredCredentials(storage: storage)
        exchange.authentication.ask = { source.credential(for: $0) }
    }

    /// Called on a loop.
    func challenged(_ report: AuthenticationReport, _ record: AttemptRecord) {
        guard isMonitored else { return }
        emit(record) { $0.urlSession($1, task: $2, didReceive: URLAuthenticationChallenge(report)) }
    }
}
