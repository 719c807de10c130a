public import TransferCore
import TransferEngine
import TransferEventLoop
import TransferScheduling

/// Gives the value of a credential for an origin, whenever a job needs it.
public typealias CredentialProvider = @Sendable (Origin) async throws -> String

/// The runner, as far as credentials need it.
protocol CredentialHost: PartHost {
    var credentials: CredentialProviders { get }
    func underWay(_ id: Int64) -> RunningJob?
    /// Goes on with a job that has all it needs.
    func transfer(_ id: Int64)
    func failed(_ job: RunningJob, _ error: TransferError, bodyLeft: Bool, progressed: Bool)
}

/// The program's closures that give credentials, by the names that jobs use.
final class CredentialProviders {
    private var providers: [String: CredentialProvider] = [:]

    func register(_ name: String, _ provider: @escaping CredentialProvider) { providers[name] = provider }

    /// Asks the program's closures for what the job needs of them; it goes on when they have answered.
    ///
    /// - Returns: Whether there is something to wait for.
    func ask(for job: RunningJob, on host: isolated some CredentialHost) -> Bool {
        guard job.credentials == nil, !providers.isEmpty, let origin = Origin(anyURL: job.url) else { return false }
        let asked = job.record.spec.settings.credentialNames.compactMap { name in
            providers[name].map { (name, $0) }
        }
        guard !asked.isEmpty else { return false }
        let id = job.candidate.id
        Task { [host] in
            let answer: Result<[String: String], any Error>
            do {
                var values: [String: String] = [:]
                for (name, provider) in asked { values[name] = try await provider(origin) }
                answer = .success(values)
            } catch {
                answer = .failure(error)
            }
            host.loop.execute { host.onLoop { $0.credentials.came(answer, for: id, on: $0) } }
        }
        return true
    }

    private func came(
        _ answer: Result<[String: String], any Error>, for id: Int64, on host: isolated some CredentialHost
    ) {
        guard let job = host.underWay(id) else { return }
        switch answer {
        case .success(let values):
            job.credentials = values
            host.transfer(id)
        case .failure(let error):
            let failure = TransferError(.secretMissing, "a credential could not be had: \(error)", isTransient: true)
            host.failed(job, failure, bodyLeft: false, progressed: false)
        }
        host.pump()
    }

    /// The closures for those of the names that have one; `nil` where none has.
    func providers(of names: [String]) -> AskedCredentials? {
        let asked = names.compactMap { name in providers[name].map { (name, $0) } }
        return asked.isEmpty ? nil : AskedCredentials(providers: asked)
    }
}

/// Credentials that the program's closures give.
struct AskedCredentials: Sendable {
    fileprivate let providers: [(name: String, provider: CredentialProvider)]

    /// Asks the closures, one after the other.
    func values(for origin: Origin) async -> Result<[String: String], TransferError> {
        var values: [String: String] = [:]
        do {
            for (name, provider) in providers { values[name] = try await provider(origin) }
            return .success(values)
        } catch {
            return .failure(
                TransferError(.secretMissing, "a credential could not be had: \(error)", isTransient: true))
        }
    }
}
