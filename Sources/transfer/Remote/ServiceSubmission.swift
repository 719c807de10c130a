import FoundationEssentials
import TransferCore
import TransferEngine
import TransferEventLoop

/// A submission of jobs to a service that is applied once.
///
/// After a lost answer the request is repeated with the same key, by which the service knows whether it has applied it.
struct ServiceSubmission {
    let client: ServiceClient
    private let key = HeaderField("Idempotency-Key", "\"\(UUID().uuidString.lowercased())\"")

    init(_ client: ServiceClient) { self.client = client }

    /// The most attempts, at intervals of a second: a restarted service is available within that time.
    private static let mostAttempts = 10

    /// Submits jobs.
    ///
    /// - Throws: `Failure` with the service's refusal, or the reason why the service cannot be reached.
    func post<Answer: Decodable>(
        _ path: String, body: [UInt8], type: String, as: Answer.Type
    ) async throws -> Answer {
        let loop = try EventLoop(name: "submission")
        defer { loop.stop() }
        var attempts = 1
        var outcome = await attempt(path, body, type)
        // A service that was never reached has accepted nothing.
        if case .failure(let error) = outcome, error.code == .cannotConnect { attempts = Self.mostAttempts }
        if attempts < Self.mostAttempts, isUnknown(outcome) {
            for await _ in Ticks.every(.seconds(1), on: loop) {
                attempts += 1
                outcome = await attempt(path, body, type)
                if attempts == Self.mostAttempts || !isUnknown(outcome) { break }
            }
        }
        return try client.value(outcome, as: Answer.self)
    }

    private func attempt(_ path: String, _ body: [UInt8], _ type: String) async -> ServiceClient.Outcome {
        await client.exchange("POST", path, body: body, type: type, headers: [key])
    }

    /// Returns whether the fate of the jobs is unknown: the answer was lost, or the service has not finished.
    private func isUnknown(_ outcome: ServiceClient.Outcome) -> Bool {
        switch outcome {
        case .success(let answer): client.code(of: answer) == "keyInUse"
        case .failure: true
        }
    }
}
