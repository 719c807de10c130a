import FoundationEssentials
import TransferCore
import TransferEngine
import TransferEventLoop

/// Jobs that are submitted to a service, once: where the answer is lost the same is asked again, with the key by which the
/// service knows that it has done it.
struct ServiceSubmission {
    let client: ServiceClient
    private let key = HeaderField("Idempotency-Key", "\"\(UUID().uuidString.lowercased())\"")

    init(_ client: ServiceClient) { self.client = client }

    /// A service that is started anew is there within that time.
    private static let mostAttempts = 10

    /// - Throws: `Failure` that says what the service refused, or why it can't be reached.
    func post<Answer: Decodable>(
        _ path: String, body: [UInt8], type: String, as: Answer.Type
    ) async throws -> Answer {
        let loop = try EventLoop(name: "submission")
        defer { loop.stop() }
        var attempts = 1
        var outcome = await attempt(path, body, type)
        // A service that was never there has taken nothing.
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

    /// Whether it isn't known what became of the jobs: the answer was lost, or the service is at it still.
    private func isUnknown(_ outcome: ServiceClient.Outcome) -> Bool {
        switch outcome {
        case .success(let answer): client.code(of: answer) == "keyInUse"
        case .failure: true
        }
    }
}
