import Foundation
public import FoundationNetworking
import TransferEngine

extension Request {
    /// Answers challenges (401) of the request's origin with a name and a password. The scheme is the strongest one
    /// that the server offers: Digest (RFC 7616), NTLM, Basic (RFC 7617) or Negotiate (RFC 4559).
    ///
    /// The credential is sent only after the server asks, and never to another origin that a redirect leads to. When
    /// the server refuses it, the request ends with the 401 response, which `validate()` turns into a failure.
    ///
    /// - Parameters:
    ///   - username: The name. An empty name stands for the Kerberos ticket of the user that runs the program, and
    ///     works with Negotiate only.
    ///   - persistence: With `.none` each request waits for a challenge. Otherwise later requests of the session with
    ///     the same credential to the same protection space are authorised at once. Nothing is kept beyond the session.
    @discardableResult
    public func authenticate(
        username: String, password: String, persistence: URLCredential.Persistence = .forSession
    ) -> Self { authenticate(with: URLCredential(user: username, password: password, persistence: persistence)) }

    /// Answers challenges of the request's origin with a credential; a later call replaces the credential.
    ///
    /// - Parameter credential: A credential with a name and a password; other credentials are ignored, as HTTP's
    ///   schemes cannot use them.
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

    /// Does the same as ``authenticate(with:)``.
    @discardableResult
    public func authenticate(using credential: URLCredential) -> Self { authenticate(with: credential) }

    /// Gives an exchange the request's own credential or the session's storage of credentials.
    func authenticate(_ exchange: inout ExchangeRequest) {
        if let credential = read({ $0.own.credential?.challenge }) {
            exchange.settings.credentials = .password(user: credential.user, password: credential.password)
            exchange.authentication.remembers = credential.isRemembered
            exchange.authentication.memory = session.authenticationMemory
        }
        guard let storage = session.settings.credentialStorage else { return }
        // Every configuration has the shared storage, which is mostly empty.
        if storage === URLCredentialStorage.shared, storage.allCredentials.isEmpty { return }
        let source = StoredCredentials(storage: storage)
        exchange.authentication.ask = { source.credential(for: $0) }
    }

    /// Reports a challenge to the event monitors. Called on a loop.
    func challenged(_ report: AuthenticationReport, _ record: AttemptRecord) {
        guard isMonitored else { return }
        emit(record) { $0.urlSession($1, task: $2, didReceive: URLAuthenticationChallenge(report)) }
    }
}
