public import TransferCore
import TransferEngine
import TransferEventLoop
import TransferScheduling

/// A function that returns the value of a credential for an origin, called whenever a job needs it.
public typealias CredentialProvider = @Sendable (Origin) async throws -> String

/// The part of the runner that credentials need.
protocol CredentialHost: PartHost {
    var credentials: CredentialProviders { get }
    func underWay(_ id: Int64) -> RunningJob?
    /// Continues a job that has all it needs.
    func transfer(_ id: Int64)
    func failed(_ job: RunningJob, _ error: TransferError, bodyLeft: Bool, progressed: Bool)
}

/// The program's closures that give credentials, by the names that jobs use.
final class CredentialProviders {
    private var providers: [String: CredentialProvider] = [:]

    func register(_ name: String, _ provider: @escaping CredentialProvider) { providers[name] = provider }

    /// Calls the program's closures for the credentials of the job, which continues when they have answered.
    ///
    /// - Returns: Whether the job has to wait for an answer.
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

    /// Returns the closures for these names, without names that have none; `nil` if no name has one.
    func providers(of names: [String]) -> AskedCredentials? {
        let asked = names.compactMap { name in providers[name].map { (name, $0) } }
        return asked.isEmpty ? nil : AskedCredentials(providers: asked)
    }
}

/// The credentials that the program's closures give.
struct AskedCredentials: Sendable {
    fileprivate let providers: [(name: String, provider: CredentialProvider)]

    /// Calls the closures, one after the other.
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
