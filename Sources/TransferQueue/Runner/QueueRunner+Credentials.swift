public import TransferCore
import TransferEngine
import TransferEventLoop

/// Gives the value of a credential for an origin, whenever a job needs it.
public typealias CredentialProvider = @Sendable (Origin) async throws -> String

extension QueueRunner {
    func register(_ name: String, _ provider: @escaping CredentialProvider) { memory.providers[name] = provider }

    /// Asks the program's closures for what the job needs of them; it goes on when they have answered.
    ///
    /// - Returns: Whether there is something to wait for.
    func askForCredentials(_ job: RunningJob) -> Bool {
        guard job.credentials == nil, !memory.providers.isEmpty, let origin = Origin(anyURL: job.url) else {
            return false
        }
        let asked = job.record.spec.settings.credentialNames.compactMap { name in
            memory.providers[name].map { (name, $0) }
        }
        guard !asked.isEmpty else { return false }
        let id = job.candidate.id
        Task {
            do {
                var values: [String: String] = [:]
                for (name, provider) in asked { values[name] = try await provider(origin) }
                didGetCredentials(id, .success(values))
            } catch {
                didGetCredentials(id, .failure(error))
            }
        }
        return true
    }

    private func didGetCredentials(_ id: Int64, _ result: Result<[String: String], any Error>) {
        guard let job = running[id] else { return }
        switch result {
        case .success(let values):
            job.credentials = values
            transfer(id)
        case .failure(let error):
            let failure = TransferError(.secretMissing, "a credential could not be had: \(error)", isTransient: true)
            failed(job, failure, bodyLeft: false)
        }
        pump()
    }
}
